/**
 * Has Node's own modules for HTTP required instead of imported. For an import, Node reads all that a module exports, and of `node:http` that loads a second
 * undici, which takes 40 ms of processor time at each start and which nothing uses.
 */
import type { Plugin } from 'esbuild';

const required = 'required';

/** The plugin of esbuild. */
export const requiredHttp: Plugin = {
  name: 'node:http is required',
  setup(bundle) {
    bundle.onResolve({ filter: /^(?:node:)?https?$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path: `node:${path.replace(/^node:/, '')}`, namespace: required } : undefined,
    );
    bundle.onLoad({ filter: /./, namespace: required }, ({ path }) => ({ contents: `module.exports = require('${path}')` }));
  },
};
