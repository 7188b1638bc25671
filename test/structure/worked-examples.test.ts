/** A member of each of these families is added to a copy of the project by the steps of its row in src/README.md; and each step that is left out is asked for by something. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from '../harness/temp-folder.ts';
import { root } from './sources.ts';
import { example as guard } from './worked-examples/guard.ts';
import { example as notificationTarget } from './worked-examples/notification-target.ts';
import { example as provider } from './worked-examples/provider.ts';
import { example as rebaseRule } from './worked-examples/rebase-rule.ts';
import type { Step, WorkedExample } from './worked-examples/worked-example.ts';

const examples: readonly WorkedExample[] = [provider, guard, rebaseRule, notificationTarget];
/** What the type checker and the suites read. */
const parts = ['src', 'test', 'docs', 'crd', 'package.json'];
const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object };

/** A copy of the project in which these steps are done. Returns its folder. */
function copyWith(steps: readonly Step[]): string {
  const folder = tempFolder('worked-example');
  for (const part of parts)
    cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => !path.includes('/docs/images') });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  for (const step of steps) applyStep(folder, step);
  return folder;
}

function applyStep(folder: string, { file, text, after = {}, replace = {} }: Step): void {
  const path = join(folder, file);
  if (text !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const replaced = Object.entries(replace).reduce(
    (all, [from, to]) => {
      assert.ok(all.includes(from), `${file} has no ${from}`);
      return all.replace(from, to);
    },
    readFileSync(path, 'utf8'),
  );
  const lines = Object.entries(after).reduce((all, [start, added]) => {
    const index = all.findIndex((line) => line.trimStart().startsWith(start));
    assert.ok(index >= 0, `${file} has no line that begins with ${start}`);
    return all.toSpliced(index + 1, 0, added);
  }, replaced.split('\n'));
  writeFileSync(path, lines.join('\n'));
}

/** The problems that the type checker finds in the program, its explanations and the suites; empty if it finds none. */
function typeProblems(folder: string): Promise<string> {
  const include = ['src', 'docs/explanations', ...examples.flatMap(({ suite }) => suite)];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  return outputOfFailed(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], folder);
}

/** The output of the suite if one of its tests fails; otherwise empty. */
function suiteProblems(folder: string, { suite }: WorkedExample): Promise<string> {
  return outputOfFailed(process.execPath, ['--test-isolation=none', '--test', ...suite], folder);
}

async function outputOfFailed(command: string, args: readonly string[], cwd: string): Promise<string> {
  // A test file that finds itself in a run reports to that run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    await promisify(execFile)(command, args, { cwd, env, maxBuffer: 1 << 28 });
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}

test('the rows of the examples are in the table', () => {
  const page = readFileSync(join(root, 'src/README.md'), 'utf8');
  for (const { row } of examples) assert.ok(page.includes(`\n| ${row} | `), row);
});

test('with all steps of all examples, the types are right', async () => {
  assert.equal(await typeProblems(copyWith(examples.flatMap(({ steps }) => steps))), '');
});

for (const example of examples) {
  describe(`a new member of the family "${example.row}"`, () => {
    test('passes the tests of its family', async () => {
      assert.equal(await suiteProblems(copyWith(example.steps), example), '');
    });
    for (const step of example.steps.filter(({ without }) => without !== 'types')) {
      test(`is asked to have its step in ${step.file}`, async () => {
        const folder = copyWith(example.steps.filter((other) => other !== step));
        assert.notEqual(await suiteProblems(folder, example), '');
      });
    }
  });
}

test('the type checker asks for the steps that no test asks for', async () => {
  const left = examples.flatMap(({ steps }) => steps).filter(({ without }) => without === 'types');
  for (const step of left) {
    const folder = copyWith(examples.flatMap(({ steps }) => steps).filter((other) => other !== step));
    assert.notEqual(await typeProblems(folder), '', step.file);
  }
});
