// The package has no types for its copy without Redis.
declare module "bottleneck/light.js" {
  export { default } from "bottleneck";
}
