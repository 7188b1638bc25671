/** Replaces the part of client-node's generated API that its `config.js` imports for `makeApiClient`, which is not used here. */
export function createConfiguration(): never {
  throw new Error('the generated API of client-node is not loaded (src/kube/kube-config.ts)');
}

export { createConfiguration as ServerConfiguration };
