#!/usr/bin/env node
// Node runs TypeScript, but not below node_modules, where an installed package is: there the types are taken off on the way.
import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '');
if (process.versions.node.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `image-watcher needs Node ${oldest} or newer, and this is ${process.versions.node}: install a newer one, or use the executable of the release\n`,
  );
  process.exit(2);
}

const { registerHooks, stripTypeScriptTypes } = nodeModule;
const sources = new URL('../src/', import.meta.url).href;

if (sources.includes('/node_modules/')) {
  // Its first call warns that it is experimental. It is what Node itself does to the files of a checkout.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  stripTypeScriptTypes('');
  process.emitWarning = emitWarning;
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(sources) || !url.endsWith('.ts')) return nextLoad(url, context);
      return {
        format: 'module',
        shortCircuit: true,
        source: stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'), { mode: 'strip' }),
      };
    },
  });
}
await import('../src/main.ts');
