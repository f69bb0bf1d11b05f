import { isFlag, isText, isWhole, must, refuseSetup, ruleFaults } from "../../runtime/rules.ts";
import { type Incoming, parseBody, Refusal } from "../answer.ts";
import type { SandboxControls } from "../controls.ts";
import type { FaultOptions } from "../faults.ts";
import { type Fields, isFields } from "../json.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import type { Snapshots } from "../snapshot.ts";
import type { WaitFor } from "../wait-for.ts";
import type { World } from "../world.ts";

/** What the controls act on. */
export interface Controlled {
  readonly world: () => World;
  /** How often a record or a request has changed. */
  readonly version: () => number;
  readonly clock: SandboxClock;
  readonly snapshots: Snapshots;
  readonly sandbox: SandboxControls & {
    fail(options: FaultOptions): unknown;
    reset(): void;
    readonly waitFor: WaitFor;
  };
}

/** @throws Refusal 400 for a body that is not a JSON object. */
const bodyOf = (incoming: Incoming): Fields => {
  if (incoming.body === "") return {};
  const { value, refusal } = parseBody(incoming);
  if (refusal !== undefined) throw refusal;
  if (!isFields(value)) throw new Refusal(400, "The body must be a JSON object.");
  return value;
};

const rules = {
  advance: { ms: must("a number of milliseconds", (value) => typeof value === "number") },
  freeze: { frozen: isFlag },
  seed: { contacts: isWhole(0, 1_000_000) },
  "do-not-email": { address: isText, isOnList: isFlag, workspace: isText },
};

const required = ["ms", "contacts", "address"];

const checkedBody = (incoming: Incoming, control: keyof typeof rules): Fields => {
  const body = bodyOf(incoming);
  refuseSetup(control, ruleFaults(body, rules[control], { required }));
  return body;
};

const named = (workspace: unknown): string | undefined =>
  workspace === undefined ? undefined : String(workspace);

/** The controls by method and path below `/_sandbox`. Some return what they changed. */
export const controls: Readonly<Record<string, (incoming: Incoming, on: Controlled, id: string) => unknown>> =
  {
    "POST /fail": (incoming, { world, sandbox }) => {
      // `fail` checks it and names every fault.
      sandbox.fail(bodyOf(incoming) as unknown as FaultOptions);
      return { plans: world().plans.pending };
    },
    "DELETE /fail/:id": (_, { world }, id) => {
      if (!world().plans.remove(Number(id))) throw new Refusal(404, "There is no such planned fault.");
      return { plans: world().plans.pending };
    },
    "POST /advance": (incoming, { clock }) => {
      clock.advance(Number(checkedBody(incoming, "advance").ms));
      return { at: new Date(clock.wallTime()).toISOString() };
    },
    "POST /freeze": (incoming, { clock }) => {
      clock.freeze(checkedBody(incoming, "freeze").frozen !== false);
      return { frozen: clock.isFrozen };
    },
    "POST /seed": (incoming, { world, sandbox }) => {
      sandbox.seedContacts(Number(checkedBody(incoming, "seed").contacts));
      return { contacts: world().workspaceNamed("default").contacts.all.length };
    },
    // Each checks what it gets and names every fault. The workspace's name stands beside the change.
    "POST /mail-accounts/:id": (incoming, { sandbox }, id) => {
      const { workspace, ...change } = bodyOf(incoming);
      sandbox.updateMailAccount(id, change, named(workspace));
    },
    "POST /workspace": (incoming, { sandbox }) => {
      const { workspace, ...change } = bodyOf(incoming);
      sandbox.updateWorkspace(change, named(workspace));
    },
    "POST /do-not-email": (incoming, { sandbox }) => {
      const { address, isOnList, workspace } = checkedBody(incoming, "do-not-email");
      sandbox.doNotEmail(String(address), isOnList !== false, named(workspace));
    },
    "POST /reset": (_, { sandbox }) => sandbox.reset(),
    "GET /snapshot": (_, { snapshots }) => snapshots.take(),
    "PUT /snapshot": (incoming, { snapshots }) => snapshots.restore(bodyOf(incoming)),
  };
