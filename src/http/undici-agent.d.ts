// undici ships no types for its inner files. The agent alone loads in a third of the time of the whole package,
// and, unlike the package's entry, leaves the host's global fetch as it was.
declare module "undici/lib/dispatcher/agent.js" {
  const Agent: new (
    options: object,
  ) => {
    dispatch(options: object, handler: object): boolean;
    destroy(): Promise<void>;
  };
  export default Agent;
}
