#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const needed = engines.node.replace('>=', '');
if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `image-watcher needs Node ${needed} or newer; this is Node ${process.versions.node}. The executable of a release needs no Node.\n`,
  );
  process.exit(2);
}

// What Node compiles (and, of a checkout, takes the types off) is kept for the next start: half of what a start costs. In a folder of the user's own, because
// what others could write there would be run. Where it cannot be written, nothing is kept.
const { XDG_CACHE_HOME: named = '' } = process.env;
module.enableCompileCache(join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'image-watcher'));

// A checkout has the sources, which Node runs as they are; a package has what prepack made of them.
const sources = '../src/main.ts';
await import(existsSync(new URL(sources, import.meta.url)) ? sources : '../dist/main.js');
