/** What client-node's `config.js` imports of its generated API and only `makeApiClient` uses. */
export function createConfiguration(): never {
  throw new Error('the generated API of client-node is not loaded (src/kube/kube-config.ts)');
}

export { createConfiguration as ServerConfiguration };
