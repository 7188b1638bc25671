/**
 * Joins @kubernetes/client-node with the program without what nothing uses of it: its generated API, which takes 50 MB of memory and half a second to load. Its
 * package.json does not say that its modules do nothing when they are loaded, so that esbuild would keep all of them.
 */
import type { Plugin } from 'esbuild';

export const clientNode = '@kubernetes/client-node';

/** The plugin of esbuild. */
export const leanClientNode: Plugin = {
  name: 'client-node does nothing when it is loaded',
  setup(bundle) {
    bundle.onResolve({ filter: /^\.|client-node$/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      const isIts = path === clientNode || importer.replaceAll('\\', '/').includes(`/node_modules/${clientNode}/`);
      // The second time, esbuild answers itself.
      if (!isIts || pluginData === leanClientNode) return undefined;
      return { ...(await bundle.resolve(path, { importer, kind, resolveDir, pluginData: leanClientNode })), sideEffects: false };
    });
  },
};
