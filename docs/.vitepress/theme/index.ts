import { type Theme, useData } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { h } from "vue";
import CopyPage from "./CopyPage.vue";
import Playground from "./Playground.vue";
import "./style.css";

/** The start page of VitePress has no main landmark. */
const markMain = (): void => {
  document.querySelector("#VPContent.is-home")?.setAttribute("role", "main");
};

/** Guides before types. A function in the settings would reach the page as text, which its policy does not let run. */
const boostDocument = (id: string): number => (id.startsWith("/reference/") ? 0.2 : 1);

/** The playground's example at the end of each page. The pages do not name it: the package has them without a playground. */
const examples: Readonly<Record<string, number>> = {
  "guide/sending-once.md": 0,
  "guide/rate-limits.md": 1,
  "guide/pagination.md": 2,
  "guide/events.md": 3,
};

const TryIt = () => {
  const { relativePath } = useData().page.value;
  const start = examples[relativePath];
  if (start === undefined) return undefined;
  const heading = h("h2", { id: "try-it-here" }, "Try it here");
  return h("div", { class: "vp-doc" }, [heading, h(Playground, { start, key: start })]);
};

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, { "doc-before": () => h(CopyPage), "doc-footer-before": () => h(TryIt) }),
  enhanceApp: ({ app, router, siteData }) => {
    Object.assign(siteData.value.themeConfig.search.options.miniSearch.searchOptions, { boostDocument });
    app.component("Playground", Playground);
    // Once the page is drawn; the pages are built where nothing is.
    if (typeof document === "undefined") return;
    router.onAfterRouteChange = () => void requestAnimationFrame(markMain);
  },
};
export default theme;
