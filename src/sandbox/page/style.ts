/** The page's one style sheet; no font, image or script is fetched from anywhere. */
export const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 15%, Canvas); --accent: #3b6fd4; }
body { font: 14px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; } h1 small, h2 small { font-weight: 400; opacity: .6; }
h2 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; table-layout: auto; }
th { text-align: left; font-weight: 500; opacity: .6; }
th, td { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
meter { width: 10rem; accent-color: var(--accent); }
.ok { color: #2a7d46; } .refused { color: #b4541a; } .failed { color: #b3261e; }
article { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; padding: .6rem .8rem; }
article p { margin: 0 0 .4rem; } pre { white-space: pre-wrap; font: inherit; margin: 0; }
iframe { width: 100%; height: 12rem; border: 0; background: #fff; border-radius: .3rem; }
`;
