/** Whoever deletes the folder of a wing, and its name in the list, has a smaller product: its commands start, and it knows the kinds that are left. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { commands } from '../../src/cli/index.ts';
import { lintText } from '../../src/cli/lint/lint-text.ts';
import { wings } from '../../src/wings.ts';
import { resources } from '../harness/resource-group.ts';
import { copyWithout } from './copy-without.ts';

/** What the program prints, and its exit code. */
async function run(folder: string, ...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [join(folder, 'src/main.ts'), ...args])) };
  } catch (error) {
    return error as { code: unknown; stdout: string; stderr: string };
  }
}

/** Of the overview: `  crd   print the …`. */
const namesIn = (help: string) => [...help.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name = '']) => name);

const policy = (apiVersion: string, kind: string, spec: object, name = 'added') =>
  JSON.stringify({ apiVersion, kind, metadata: { name }, spec });
const v1 = 'operator.technomad.dev/v1';
const target = { kind: 'Deployment', name: 'web' };
const imagePolicy = policy(v1, 'ImagePolicy', { image: 'library/nginx', select: { semver: {} }, targets: [target] }, 'web');
/** What is valid with each wing, and what lint says of it without. */
const added: Readonly<Record<string, readonly [document: string, refusal: RegExp]>> = {
  bases: [
    policy(v1, 'BaseImagePolicy', { image: 'library/debian', select: { digest: { tag: 'bookworm' } }, workloads: [{}] }),
    /kind: the group operator\.technomad\.dev has only the kinds ImagePolicy and NotificationTarget/,
  ],
  conversion: [
    policy('operator.technomad.dev/v1alpha1', 'ImagePolicy', {
      repository: 'library/nginx',
      tagPolicy: { strategy: 'SemVer' },
      updateTarget: { ...target, namespace: 'default' },
    }),
    /apiVersion: "operator\.technomad\.dev\/v1alpha1" is not operator\.technomad\.dev\/v1, the only version of ImagePolicy/,
  ],
  notify: [
    policy(v1, 'NotificationTarget', { type: 'slack', urlSecretRef: { name: 'chat', key: 'url' } }),
    /kind: the group operator\.technomad\.dev has only the kinds ImagePolicy and BaseImagePolicy/,
  ],
};

for (const { id, commands: own = [] } of wings)
  test(`without the wing ${id}, all other commands exist, and lint knows the other kinds`, async () => {
    const folder = copyWithout(id);
    const help = await run(folder, '--help');
    assert.equal(help.stderr, '');
    const expected = commands.map(({ name }) => name).filter((name) => !own.some((one) => one.name === name));
    assert.deepEqual(namesIn(help.stdout), expected);
    const file = join(folder, 'policies.yaml');
    const [document, refusal] = added[id] ?? [];
    writeFileSync(file, [imagePolicy, ...(document === undefined ? [] : [document])].join('\n---\n'));
    const { code, stdout, stderr } = await run(folder, 'lint', file);
    assert.equal(stderr, '');
    if (document === undefined || refusal === undefined) {
      assert.deepEqual([code, stdout], [0, '1 policy in 1 file: nothing is wrong\n']);
      return;
    }
    const problems = stdout.split('\n').filter((line) => line.startsWith(`${file}:`));
    assert.deepEqual([code, problems.filter((line) => !line.includes(' added '))], [1, []], stdout);
    assert.match(stdout, refusal);
    assert.deepEqual(lintText(document, resources).problems, []);
  });
