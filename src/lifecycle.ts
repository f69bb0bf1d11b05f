/** Something that a client has open. */
export interface Closable {
  close(): Promise<void>;
}

/** A client, and the clients that it was made from; one that is gone closes nothing any more. */
interface Line {
  readonly member: WeakRef<Member>;
  readonly elders: Line | undefined;
}

const fromLiving = (line: Line | undefined): Line | undefined => {
  for (let at = line; at !== undefined; at = at.elders) if (at.member.deref() !== undefined) return at;
  return undefined;
};

const isIn = (line: Line, member: Member): boolean => {
  for (let at: Line | undefined = line; at !== undefined; at = at.elders)
    if (at.member.deref() === member) return true;
  return false;
};

const forgetting = new FinalizationRegistry<() => void>((forget) => forget());

/** Keeps nothing alive: what is under way does that by itself, and what nobody uses has nothing left to close. */
class Belongings<T extends object> {
  readonly #all = new Set<{ readonly thing: WeakRef<T>; readonly owner: Line }>();

  add(thing: T, owner: Line): void {
    const belonging = { thing: new WeakRef(thing), owner };
    this.#all.add(belonging);
    forgetting.register(thing, () => this.#all.delete(belonging));
  }

  /** What the member has, and those made from it. */
  of(member: Member): readonly T[] {
    return [...this.#all].flatMap(({ thing, owner }) => (isIn(owner, member) ? (thing.deref() ?? []) : []));
  }
}

interface Family {
  readonly recorders: Belongings<Set<Closable>>;
  readonly ends: Belongings<Closable>;
}

/** A client among those that were made from it, and from which it was made: each is closed with its elders. */
export class Member {
  /** Open recorders: they send, so they are drained before anything else is closed. */
  readonly recorders = new Set<Closable>();
  readonly #family: Family;
  readonly #line: Line;

  /** @param ends - what is the client's own to close, and not its elder's. */
  constructor(ends: readonly Closable[], elder?: Member) {
    this.#family = elder ? elder.#family : { recorders: new Belongings(), ends: new Belongings() };
    this.#line = { member: new WeakRef(this), elders: elder && fromLiving(elder.#line) };
    this.#family.recorders.add(this.recorders, this.#line);
    for (const end of ends) this.#family.ends.add(end, this.#line);
  }

  async close(): Promise<void> {
    const { recorders, ends } = this.#family;
    const open = recorders.of(this).flatMap((some) => [...some]);
    await Promise.all(open.map((recorder) => recorder.close()));
    // All at once: a call that is let go by one must not leave by another.
    await Promise.all(ends.of(this).map((end) => end.close()));
  }
}
