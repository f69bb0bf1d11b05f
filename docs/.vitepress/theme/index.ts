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

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "doc-before": () => h(CopyPage) }),
  enhanceApp: ({ app, router }) => {
    app.component("Playground", Playground);
    // Once the page is drawn; the pages are built where nothing is.
    if (typeof document === "undefined") return;
    router.onAfterRouteChange = () => void requestAnimationFrame(markMain);
  },
};
export default theme;
