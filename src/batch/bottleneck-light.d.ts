// The package has no types for `light.js`, its build without Redis.
declare module "bottleneck/light.js" {
  export { default } from "bottleneck";
}
