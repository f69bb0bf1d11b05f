/** Runs every cell, some at once so that their waits overlap, and keeps what each came to. */
export const inParallel = async <Cell, Result>(
  cells: readonly Cell[],
  atOnce: number,
  run: (cell: Cell) => Promise<Result>,
): Promise<ReadonlyMap<Cell, Result>> => {
  const results = new Map<Cell, Result>();
  const queue = [...cells];
  const work = async (): Promise<void> => {
    for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
      results.set(cell, await run(cell));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
};
