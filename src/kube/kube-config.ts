/**
 * client-node's KubeConfig, without the rest of that package: its barrel and `makeApiClient`, which is not used here, load a thousand generated modules,
 * 50 MB of memory in every process (measured with 2.0.1; bench row `memory`). If a later version has another layout, the whole package is loaded.
 */
import { registerHooks } from 'node:module';

const generated = new URL('generated-api.ts', import.meta.url).href;
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const isUnused = specifier === './gen/index.js' && context.parentURL?.endsWith('/@kubernetes/client-node/dist/config.js') === true;
    return next(isUnused ? generated : specifier, context);
  },
});
const library = await import('@kubernetes/client-node/dist/config.js');
hooks.deregister();

export const { KubeConfig } = library;
export type KubeConfig = InstanceType<typeof KubeConfig>;
