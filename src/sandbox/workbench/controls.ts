import { Refusal } from "../answer.ts";
import { checkArgument } from "../check-options.ts";
import type { SandboxControls } from "../controls.ts";
import type { FaultOptions } from "../faults.ts";
import type { Fields } from "../json.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import type { Snapshots } from "../snapshot.ts";
import type { WaitFor } from "../wait-for.ts";
import type { World } from "../world.ts";

/** The parts of the sandbox that the workbench reads and controls. */
export interface Controlled {
  readonly world: () => World;
  /** Grows with every change of a record or a request. */
  readonly version: () => number;
  readonly clock: SandboxClock;
  readonly snapshots: Snapshots;
  readonly sandbox: SandboxControls & {
    fail(options: FaultOptions): unknown;
    reset(): void;
    readonly waitFor: WaitFor;
  };
}

const named = (workspace: unknown): string | undefined =>
  workspace === undefined ? undefined : String(workspace);

/** The controls by method and path below `/_sandbox`. A returned object becomes the response. */
export const controls: Readonly<Record<string, (body: Fields, on: Controlled, id: string) => unknown>> = {
  "POST /fail": (body, { world, sandbox }) => {
    // `fail` checks the body and names every fault.
    sandbox.fail(body as unknown as FaultOptions);
    return { plans: world().plans.pending };
  },
  "DELETE /fail/:id": (_, { world }, id) => {
    if (!world().plans.remove(Number(id))) throw new Refusal(404, "There is no such planned fault.");
    return { plans: world().plans.pending };
  },
  "POST /advance": (body, { clock }) => {
    checkArgument("advance", body);
    clock.advance(body.ms);
    return { at: new Date(clock.wallTime()).toISOString() };
  },
  "POST /freeze": (body, { clock }) => {
    checkArgument("freeze", body);
    clock.freeze(body.frozen !== false);
    return { frozen: clock.isFrozen };
  },
  "POST /seed": (body, { world, sandbox }) => {
    checkArgument("seed", body);
    sandbox.seedContacts(Number(body.contacts));
    return { contacts: world().workspaceNamed().contacts.all.length };
  },
  // These methods check their arguments and name every fault. The body has the workspace's name beside the change.
  "POST /mail-accounts/:id": ({ workspace, ...change }, { sandbox }, id) =>
    sandbox.updateMailAccount(id, change, named(workspace)),
  "POST /workspace": ({ workspace, ...change }, { sandbox }) =>
    sandbox.updateWorkspace(change, named(workspace)),
  "POST /do-not-email": (body, { sandbox }) => {
    checkArgument("doNotEmail", body);
    const { address, isOnList, workspace } = body;
    sandbox.doNotEmail(String(address), isOnList !== false, named(workspace));
  },
  "POST /reset": (_, { sandbox }) => sandbox.reset(),
  "GET /snapshot": (_, { snapshots }) => snapshots.take(),
  "PUT /snapshot": (body, { snapshots }) => snapshots.restore(body),
};
