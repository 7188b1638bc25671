/** What files, registries and clusters contain does nothing to the terminal of a user, or to the log of a CI job. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { commands } from '../../src/cli/index.ts';
import { runProgram } from '../../src/cli/program.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const evil = '\u001B]0;title\u0007\u009B2J\u202E\u3164\u034F\r\n::error::forged\n##[error]forged';
const controls = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** GitHub, Azure DevOps and TeamCity execute the second form anywhere in a line. */
const command = /^\s*::|##\w*\[/im;

async function run(args: readonly string[], input = '', terminal: object = {}) {
  let out = '';
  let err = '';
  const write = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const code = await runProgram(commands, args, { ...write, readStandardInput: () => Promise.resolve(input), ...terminal });
  return { code, out, err };
}

const policy = JSON.stringify({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'ImagePolicy',
  metadata: { name: `web${evil}`, namespace: `shop${evil}` },
  spec: { image: `a/b${evil}`, select: { semver: { range: evil } }, [`field${evil}`]: evil, targets: [{ kind: evil, name: evil }] },
});

test('lint prints no command for a CI system anywhere in a line', async () => {
  const inner = JSON.stringify({
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name: 'a' },
    spec: {
      'b ##[add-mask]c': 1,
      'd ###VSO[task.setvariable variable=PATH]e': 1,
      "f ##teamcity[setParameter name='env.PATH' value='g']": 1,
    },
  });
  for (const output of ['text', 'json', 'yaml']) {
    const { out } = await run(['lint', '-', '-o', output], inner);
    assert.match(out, /add-mask/);
    assert.doesNotMatch(out, command);
  }
});

test('lint escapes colours in the text of others, which could hide it', async () => {
  const { err } = await run(['lint', 'a\u001B[8mb\u001B[30;40mc'], '', { hasColours: true });
  assert.match(err, /a\\u\{1b\}\[8mb\\u\{1b\}\[30;40mc/);
});

const folder = tempFolder('safe-terminal');
const file = join(folder, '::error::\u001B[2J.yaml');
writeFileSync(file, policy);

for (const [what, args, input] of [
  ['lint of the standard input', ['lint', '-'], policy],
  ['lint of a file', ['lint', file], ''],
  ['lint of text that is no YAML', ['lint', '-'], `kind: ImagePolicy\n${evil}: [`],
  ['lint of a file that is missing', ['lint', `::error::${evil}`], ''],
  ['an unknown command', [`::error::${evil}`], ''],
  ['an unknown option', ['lint', `--${evil}`], ''],
  ['a configuration that cannot be read', ['lint', '-', '--config', `/${evil}`], policy],
  ['lint as JSON', ['lint', '-', '-o', 'json'], policy],
  ['lint as YAML', ['lint', '-', '-o', 'yaml'], policy],
] as const)
  test(`${what} prints no control characters and no commands for a CI system`, async () => {
    const { out, err } = await run(args, input);
    assert.notEqual(out + err, '');
    for (const text of [out, err]) {
      assert.doesNotMatch(text, controls);
      assert.doesNotMatch(text, command);
    }
  });

test('JSON and YAML of lint contain texts unchanged for programs', async () => {
  const json = JSON.parse((await run(['lint', '-', '-o', 'json'], policy)).out) as { problems: { policy?: string }[] };
  assert.ok(json.problems.some((problem) => JSON.stringify(problem).includes(JSON.stringify(evil).slice(1, -1))));
  assert.deepEqual(parse((await run(['lint', '-', '-o', 'yaml'], policy)).out), json);
});

test('lint keeps its own colours and line breaks', async () => {
  const { out } = await run(['lint', '-'], '{apiVersion: operator.technomad.dev/v1, kind: ImagePolicy}', { hasColours: true });
  assert.ok(out.startsWith('\u001B[1m(standard input)\u001B[22m\n'), out);
});
