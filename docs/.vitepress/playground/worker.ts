// The visitor's program runs here, away from the page: it cannot touch the page, and one without an end is ended with it.
import { openLab, type View } from "./engine.ts";
import { presets } from "./presets.ts";

/** What the page asks for: open the workspace of a preset, then any number of runs. */
export interface Asked {
  readonly preset: number;
  readonly code: string;
  /** Whether the response to the next call is lost. */
  readonly isLost: boolean;
}

/** What the page is told: both sides as they are now, and the end of a run. */
export interface Told {
  readonly view?: View;
  readonly hasEnded: boolean;
}

let lab: ReturnType<typeof openLab> | undefined;
const tell = (told: Told): void => postMessage(told);

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
  const preset = presets[data.preset];
  if (preset === undefined) return;
  lab ??= openLab(preset, (view) => tell({ view, hasEnded: false }));
  if (data.isLost) lab.lose();
  await lab.run(data.code);
  tell({ hasEnded: true });
});
