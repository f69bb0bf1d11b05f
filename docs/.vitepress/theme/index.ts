import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import "./style.css";

/** The start page of VitePress has no main landmark. */
const markMain = (): void => {
  document.querySelector("#VPContent.is-home")?.setAttribute("role", "main");
};

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp: ({ router }) => {
    // Once the page is drawn; the pages are built where nothing is.
    if (typeof document === "undefined") return;
    router.onAfterRouteChange = () => void requestAnimationFrame(markMain);
  },
};
export default theme;
