#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const needed = engines.node.replace('>=', '');
if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `image-watcher needs Node ${needed} or newer; this is Node ${process.versions.node}. The executable of a release needs no Node.\n`,
  );
  process.exit(2);
}

// A checkout has the sources, which Node runs as they are; a package has what prepack made of them.
const sources = '../src/main.ts';
await import(existsSync(new URL(sources, import.meta.url)) ? sources : '../dist/main.js');
