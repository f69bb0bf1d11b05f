import type { Theme } from "vitepress";
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

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "doc-before": () => h(CopyPage) }),
  enhanceApp: ({ app, router, siteData }) => {
    Object.assign(siteData.value.themeConfig.search.options.miniSearch.searchOptions, { boostDocument });
    app.component("Playground", Playground);
    // Once the page is drawn; the pages are built where nothing is.
    if (typeof document === "undefined") return;
    router.onAfterRouteChange = () => void requestAnimationFrame(markMain);
  },
};
export default theme;
