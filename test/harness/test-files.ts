/** Which test files a run has, and which of them share a process. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { secondTier } from './second-tier.ts';

/** Test files by how they are run; paths are relative to the checkout. */
export interface TestFiles {
  /** Files that start no server, by folder. Those of a folder share a process, because loading the program takes longer than most of them. */
  readonly rooms: ReadonlyMap<string, readonly string[]>;
  /** Files that start servers, each in a process of its own. */
  readonly own: readonly string[];
}

const tiers = ['core', 'usual', 'all'] as const;

/** `core`: pure code, in seconds. `all`: also the files of `secondTier`. */
export type Tier = (typeof tiers)[number];

/** A tier by its name; throws an Error if there is none of that name. */
export function tierOf(name = 'usual'): Tier {
  const tier = tiers.find((candidate) => candidate === name);
  if (tier === undefined) throw new Error(`there is no tier ${name}: ${tiers.join(', ')}`);
  return tier;
}

const root = join(import.meta.dirname, '../..');

/** The test files of a tier; or those that are chosen by file or folder, of whatever tier. */
export function findTestFiles(tier: Tier, chosen: readonly string[] = []): readonly string[] {
  if (chosen.length > 0) return [...new Set(chosen.flatMap(filesIn))];
  if (tier === 'core') return filesIn('test/core');
  const files = filesIn('test');
  return tier === 'all' ? files : files.filter((file) => !Object.hasOwn(secondTier, file));
}

/** Puts the files that start servers apart from those that do not. */
export function arrangeTestFiles(files: readonly string[]): TestFiles {
  const { own = [], shared = [] } = Object.groupBy(files, (file) => (needsProcess(file) ? 'own' : 'shared'));
  return { rooms: Map.groupBy(shared, roomOf), own };
}

function filesIn(path: string): string[] {
  const place = relative(root, join(root, path));
  const isFolder = statSync(join(root, place), { throwIfNoEntry: false })?.isDirectory();
  return globSync(isFolder ? join(place, '**/*.test.ts') : place, { cwd: root }).toSorted();
}

/** Whether a test file starts programs, or has hooks that would run for the tests of other files too. */
function needsProcess(file: string): boolean {
  const text = textOf(file);
  const hasHooks = /^(?:before|after|beforeEach|afterEach)\(/m.test(text);
  return hasHooks || text.includes("'node:child_process'") || file.startsWith('test/harness/') || startsPrograms(file);
}

const programStarter = 'test/harness/process.ts';
const starters = new Map<string, boolean>([[programStarter, true]]);

/** Whether a file imports what starts programs, itself or by what it imports. */
function startsPrograms(file: string): boolean {
  const known = starters.get(file);
  if (known !== undefined) return known;
  // Until the answer is there, for files that import each other.
  starters.set(file, false);
  const imported = [...textOf(file).matchAll(/^(?:import|export|\}) .*from '(\.[^']+\.ts)';$/gm)].map(([, path = '']) =>
    join(dirname(file), path),
  );
  const answer = imported.some((path) => path.startsWith('test/') && startsPrograms(path));
  starters.set(file, answer);
  return answer;
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** `core/plan` for test/core/plan/guards/guards.test.ts, `notify` for test/notify/message.test.ts. */
function roomOf(file: string): string {
  const [, wing = '', room = ''] = file.split('/');
  return room.endsWith('.test.ts') ? wing : `${wing}/${room}`;
}
