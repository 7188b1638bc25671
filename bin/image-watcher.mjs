#!/usr/bin/env node
// Node runs TypeScript, but not below node_modules, where an installed package is: there the types are taken off on the way.
import { readFileSync } from 'node:fs';
// As a whole, because older versions of Node, which must be able to read this file, lack some of it.
import * as nodeModules from 'node:module';
import { fileURLToPath } from 'node:url';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const needed = engines.node.replace('>=', '');
if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `image-watcher needs Node ${needed} or newer; this is Node ${process.versions.node}. The executable of a release needs no Node.\n`,
  );
  process.exit(2);
}

const sources = new URL('../src/', import.meta.url).href;

if (sources.includes('/node_modules/')) {
  // Its first call warns that it is experimental. It is what Node itself does to the files of a checkout.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  nodeModules.stripTypeScriptTypes('');
  process.emitWarning = emitWarning;
  nodeModules.registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(sources) || !url.endsWith('.ts')) return nextLoad(url, context);
      return {
        format: 'module',
        shortCircuit: true,
        source: nodeModules.stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'), { mode: 'strip' }),
      };
    },
  });
}
await import('../src/main.ts');
