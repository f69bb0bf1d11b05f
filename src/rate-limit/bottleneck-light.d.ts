// The light build (one file, no clustering) has the same interface, and no types of its own.
declare module "bottleneck/light" {
  export { default } from "bottleneck";
}
