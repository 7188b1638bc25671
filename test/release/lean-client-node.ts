/**
 * Joins @kubernetes/client-node with the program without what nothing uses of it: its generated API, which takes 50 MB of memory and half a second to load. Its
 * package.json does not say that its modules do nothing when they are loaded, so that esbuild would keep all of them.
 */
import type { Plugin } from 'esbuild';

const clientNode = '@kubernetes/client-node';
/** What forwards a port of a pod could also find the pod of a Service, by two classes of the generated API; the program finds its pod itself. */
const unused = 'client-node-unused';

/** The plugin of esbuild. */
export const leanClientNode: Plugin = {
  name: 'client-node does nothing when it is loaded',
  setup(bundle) {
    bundle.onResolve({ filter: /^\.|client-node$/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      const from = importer.replaceAll('\\', '/');
      const isIts = path === clientNode || from.includes(`/node_modules/${clientNode}/`);
      // The second time, esbuild answers itself.
      if (!isIts || pluginData === leanClientNode) return undefined;
      if (from.endsWith('/portforward.js') && path.endsWith('/gen/index.js')) return { path, namespace: unused, sideEffects: false };
      return { ...(await bundle.resolve(path, { importer, kind, resolveDir, pluginData: leanClientNode })), sideEffects: false };
    });
    bundle.onLoad({ filter: /./, namespace: unused }, () => ({ contents: 'export class AppsV1Api {}\nexport class CoreV1Api {}\n' }));
  },
};
