import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { lint } from '../../src/cli/lint.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { policyText as policy } from './policy-text.ts';

const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n';

/** Writes files into a new folder. */
function folderWith(files: Record<string, string>): string {
  const folder = tempFolder('lint');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function run(args: string[], terminal: { input?: string; hasColours?: boolean } = {}) {
  let out = '';
  let err = '';
  const code = await lint.run(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    readStandardInput: () => Promise.resolve(terminal.input ?? ''),
    ...(terminal.hasColours && { hasColours: true }),
  });
  return { code, out, err };
}

/** `line:column field: message` of each problem of a text. */
async function problemsOf(text: string): Promise<string[]> {
  const { out } = await run(['-', '-o', 'json'], { input: text });
  const { problems } = JSON.parse(out) as { problems: { line: number; column: number; field?: string; message: string }[] };
  return problems.map(({ line, column, field = '', message }) => `${line}:${column} ${field}: ${message}`);
}

test('lint ends with 0 when nothing is wrong, and says what it has checked', async () => {
  const folder = folderWith({
    'web.yaml': `${policy('web')}---\n${configMap}---\n${policy('api')}`,
    'sub/ops.yml': policy('ops'),
    'x.json': '{}',
  });
  const { code, out, err } = await run([folder]);
  assert.deepEqual([code, out, err], [0, '3 policies in 3 files: nothing is wrong (2 documents of other kinds skipped)\n', '']);
});

test('lint ends with 1 for problems, each with file, line, column, policy and field, grouped by file', async () => {
  const folder = folderWith({
    'a.yaml': `# web\n${policy('web', '  minAge: 1d\n  suspnd: true\n')}`,
    'b.yaml': `${configMap}---\n${policy('api', '  minAge: 1h\n')}---\n${policy('ops', '  update: {mode: automatic}\n')}`,
    'c.yaml': policy('fine'),
  });
  const { code, out, err } = await run([folder]);
  assert.equal(code, 1);
  assert.equal(err, '');
  assert.equal(
    out.replaceAll(folder, ''),
    `/a.yaml
  /a.yaml:10:3 shop/web spec.minAge: "1d" is not valid: hours, minutes and seconds in this order: "90s", "30m", "1h30m"
  /a.yaml:11:3 shop/web spec.suspnd: is not a field; did you mean "suspend"?

/b.yaml
  /b.yaml:23:12 shop/ops spec.update.mode: "automatic" is none of Automatic, Approval, DryRun; did you mean "Automatic"?

4 policies in 3 files: 3 problems (1 document of other kinds skipped)
`,
  );
});

test('lint uses colours only on a terminal', async () => {
  assert.ok((await run(['-'], { input: policy('web', '  minAge: 1d\n'), hasColours: true })).out.includes('\u001B['));
  assert.ok(!(await run(['-'], { input: policy('web', '  minAge: 1d\n') })).out.includes('\u001B['));
});

test('lint prints JSON for programs', async () => {
  const { code, out } = await run(['-', '--output', 'json'], { input: `${policy('web', '  minAge: 1d\n')}---\n${configMap}` });
  assert.equal(code, 1);
  const { problems, ...summary } = JSON.parse(out) as { problems: { message: string }[] };
  assert.deepEqual(summary, { files: 1, policies: 1, others: 1, unreadable: [] });
  assert.deepEqual(
    problems.map(({ message, ...problem }) => [problem, message.length > 0]),
    [[{ file: '(standard input)', line: 9, column: 3, policy: 'shop/web', field: 'spec.minAge', reason: 'InvalidPolicy' }, true]],
  );
});

test('lint suggests the right spelling of an image, in both versions', async () => {
  const spelt =
    /^5:\d+ spec\.(?:image|repository): write "harbor\.example\.com\/team\/app": an image name is in lower case and has no scheme$/;
  const old = `apiVersion: operator.technomad.dev/v1alpha1
kind: ImagePolicy
metadata: {name: old, namespace: shop}
spec:
  repository: IMAGE
  tagPolicy: {strategy: SemVer}
  updateTarget: {kind: Deployment, name: web, namespace: shop}
`;
  for (const text of [policy('web').replace(/image: .*/, 'image: IMAGE'), old])
    for (const name of ['https://harbor.example.com/team/app', 'harbor.example.com/Team/App', 'oci://Harbor.example.com/Team/app']) {
      const [problem = '', ...rest] = await problemsOf(text.replace('IMAGE', name));
      assert.match(problem, spelt);
      assert.deepEqual(rest, []);
    }
});

test('lint checks policies of bases as the service does, and warns of the same as in ImagePolicies', async () => {
  const base = readFileSync(join(import.meta.dirname, '../../crd/samples/base-java.yaml'), 'utf8');
  assert.deepEqual(await run(['-'], { input: `${base}---\n${policy('web')}` }), {
    code: 0,
    out: '2 policies in 1 file: nothing is wrong\n',
    err: '',
  });
  const wrong = base
    .replace('operator.technomad.dev/v1', 'operator.technomad.dev/v1alpha1')
    .replace('semver:', 'semvr:')
    .replace('maxFailures: 1', 'maxFailures: 0')
    .replace('harbor.example.com/shop/*', 'harbor.example.com/shop/web:1.0');
  const found = await problemsOf(wrong);
  assert.deepEqual(
    found.map((line) => line.replace(/^\d+:\d+ ([^:]*): .*/, '$1')),
    ['apiVersion', 'spec.select', 'spec.select.semvr', 'spec.onNewBase[0].rebase.images[0]', 'spec.waves.maxFailures'],
    found.join('\n'),
  );
  assert.match(found.join('\n'), /is not operator\.technomad\.dev\/v1, the only version of BaseImagePolicy/);
  const { code, out } = await run(['-'], { input: base.replace(/range: .*/, 'range: ">=21.0.0-0"') });
  assert.deepEqual([code, /warning: platform\/java spec\.select\.semver\.range: /.test(out)], [0, true], out);
});

test('lint reads policies of both versions, lists of policies, and JSON', async () => {
  const old = { apiVersion: 'operator.technomad.dev/v1alpha1', kind: 'ImagePolicy', metadata: { name: 'old' } };
  const spec = {
    repository: 'nginx:1.2',
    tagPolicy: { strategy: 'Regex', pattern: '(' },
    updateTarget: { kind: 'Rollout', name: 'web', namespace: 'shop' },
    pollIntervalMinutes: 0,
  };
  const list = { apiVersion: 'v1', kind: 'List', items: [{ ...old, spec }, { kind: 'Secret' }, { kind: 'List', items: [old] }] };
  const found = await problemsOf(JSON.stringify(list, undefined, '\t'));
  assert.deepEqual(
    found.map((line) => line.replace(/: .*/, '')),
    ['12:5 spec.repository', '15:6 spec.tagPolicy.pattern', '18:6 spec.updateTarget.kind', '22:5 spec.pollIntervalMinutes', '31:5 spec'],
  );
});

for (const [name, text, expected] of [
  [
    'a syntax error',
    `${configMap}---\na: [\n`,
    /^6:1 : is not YAML: a bracket, brace or quote before this line is not closed: write \] where it ends$/,
  ],
  [
    'the same field twice',
    policy('web', '  suspend: true\n  suspend: false\n'),
    /^10:3 : this key is written twice in the same place: merge the two$/,
  ],
  ['another version', policy('web').replace('/v1\n', '/v2\n'), /^1:1 apiVersion: "operator\.technomad\.dev\/v2" is none of .*\/v1, /],
  [
    'another kind of the group',
    policy('web').replace('ImagePolicy', 'ImagePolicies'),
    /^2:1 kind: the group .* has only the kinds ImagePolicy, BaseImagePolicy, and NotificationTarget$/,
  ],
  ['no version', policy('web').replace(/.*\n/, ''), /^1:1 apiVersion: is missing: write operator\.technomad\.dev\/v1/],
  ['no name', policy('web').replace('name: web, ', ''), /^3:1 metadata\.name: is missing/],
  [
    'a name with capitals',
    policy('Web').replaceAll('/Web', '/web').replace('Deployment, name: Web', 'Deployment, name: web'),
    /^3:12 metadata\.name: "Web"/,
  ],
  [
    'an annotation that is no text',
    policy('web').replace('namespace: shop', 'annotations: {a: 1}'),
    /^3:37 metadata\.annotations\.a: is 1: write a text/,
  ],
  ['a field beside spec', policy('web', 'sepc: {}\n'), /^9:1 sepc: is not a field; did you mean "spec"\?/],
  [
    'a field of a strategy',
    policy('web').replace('semver: {}', 'semver: {rang: "*"}'),
    /^6:21 spec\.select\.semver\.rang: is not a field; did you mean "range"\?/,
  ],
  [
    'a field where there is none',
    policy('web').replace('semver: {}', 'newest: {tag: a}'),
    /^6:21 spec\.select\.newest\.tag: is not a field; there are no fields here/,
  ],
  [
    'a field like no other',
    policy('web', '  colour: blue\n'),
    /^9:3 spec\.colour: is not a field; the fields are image, artifact, select, /,
  ],
  [
    "the policy's own namespace",
    policy('web', '    - {kind: Deployment, name: web, namespace: shop}\n'),
    /^9:7 spec\.targets\[1\]: Deployment web is already a target/,
  ],
  ['no spec', policy('web').replace(/spec:[^]*/, ''), /^1:1 spec: the policy has no spec/],
  [
    'a number in a list',
    policy('web', '  platforms: [linux/amd64, 5]\n'),
    /^9:28 spec\.platforms\[1\]: is the number 5: write it in quotes/,
  ],
  ['an alias', `${policy('web', '  minAge: &a 1d\n')}---\n`, /^9:3 spec\.minAge/],
] as const) {
  test(`lint reports the place of ${name}`, async () => {
    const problems = await problemsOf(text);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', expected);
  });
}

test('lint reports a problem from a YAML alias where the alias is used', async () => {
  const text = policy('web', '  minAge: &a 0s\n  poll: &p {interval: *a}\n').replace('select:', 'rollout: {timeout: 1h}\n  select:');
  assert.deepEqual(
    (await problemsOf(text)).map((line) => line.split(':').slice(0, 2).join(':')),
    ['10:3 spec.minAge', '11:13 spec.poll.interval'],
  );
});

for (const [name, text] of [
  ['times and numbers as kubectl reads them', policy('web', '  suspend: off\n  update: {windows: [{from: 09:00, to: 17:30}]}\n')],
  ['fields that are empty', policy('web', '  tags:\n  pullSecrets:\n')],
  ['merged mappings', policy('web', '  update:\n    <<: {mode: DryRun}\n')],
  ['a status, which is not looked at', policy('web', 'status: {colour: blue}\n')],
  ['a name that is generated', policy('web').replace('name: web, ', 'generateName: web-, ')],
  ['Windows line ends', policy('web').replaceAll('\n', '\r\n')],
] as const) {
  test(`lint finds nothing wrong with ${name}`, async () => assert.deepEqual(await problemsOf(text), []));
}

test('lint refuses YAML aliases that expand exponentially', async () => {
  const lines = Array.from({ length: 12 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level}, `.repeat(9)}]`);
  const [problem, ...rest] = await problemsOf(`apiVersion: v1\na0: &a0 [x, y]\n${lines.join('\n')}\n`);
  assert.match(problem ?? '', /cannot be read: Excessive alias count/);
  assert.deepEqual(rest, []);
});

test('lint reads only manifests in folders, and reports invalid YAML only if it may be a policy', async () => {
  const folder = folderWith({
    'README.md': 'kind: ImagePolicy',
    'chart/templates/service.yaml': '{{- if .Values.x }}\na: [\n{{- end }}\n',
    'chart/templates/policy.yaml': 'kind: ImagePolicy\n{{- if .Values.x }}\n',
    'node_modules/p/a.yaml': policy('web', '  a: b\n'),
    '.git/a.yaml': policy('web', '  a: b\n'),
  });
  symlinkSync(folder, join(folder, 'circle'));
  const { code, out } = await run([folder]);
  assert.equal(code, 1);
  assert.equal(out.match(/policy\.yaml:\d+:\d+ is not YAML/g)?.length, 1);
  assert.doesNotMatch(out, /service\.yaml|README|node_modules|\.git\/|circle/);
});

test('lint names a folder without a policy, and ends with 2', async () => {
  const folder = folderWith({ 'a.yaml': configMap, 'empty.yaml': '' });
  const { code, out, err } = await run([folder]);
  assert.deepEqual([code, out, err], [2, '', `there is no ImagePolicy or BaseImagePolicy in ${folder}\n`]);
});

test('lint ends with 2 for a file that cannot be read, and checks the other files', async () => {
  const folder = folderWith({ 'a.yaml': policy('web', '  minAge: 1d\n') });
  const { code, out, err } = await run([join(folder, 'missing.yaml'), folder]);
  assert.equal(code, 2);
  assert.match(err, /missing\.yaml: does not exist: create it, or name another one\n/);
  assert.match(out, /a\.yaml:9:3/);
});

test('lint without files is wrong usage', async () => {
  await assert.rejects(run([]), UsageError);
  await assert.rejects(run(['a.yaml', '--fix']), UsageError);
});

test('lint reads standard input when run as a program', () => {
  const main = join(import.meta.dirname, '../../src/main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'lint', '-'], {
    input: policy('web', '  minAge: 1d\n'),
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '' },
  });
  assert.deepEqual([status, stderr], [1, '']);
  assert.match(stdout, /^\(standard input\)\n {2}\(standard input\):9:3 shop\/web spec\.minAge: /);
});

const release = (fields: string) =>
  policy('web').replace(
    '{kind: Deployment, name: web}',
    `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web, fields: ${fields}}`,
  );

test('lint checks fields of built-in custom resources offline, and those of others with the configuration of the service', async () => {
  const built = release('{tag: spec.values.web.image.tag}');
  const special = release('{tag: spec.values.web.version}');
  assert.equal((await run(['-'], { input: built })).code, 0);
  const [problem = ''] = await problemsOf(special);
  assert.match(
    problem,
    /spec\.targets\[0\]\.fields\.tag: spec\.values\.web\.version of HelmRelease may not be written.*customTargets.*only the built-in.*--config/,
  );
  const allowed = '{path: spec.values.*.version, repository: spec.values.*.name}';
  const config = `customTargets: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, fields: ["spec.x.y", ${allowed}]}]`;
  const folder = folderWith({ 'config.yaml': config, 'special.yaml': special, 'other.yaml': release('{tag: spec.values.version}') });
  assert.equal((await run([join(folder, 'special.yaml'), '--config', join(folder, 'config.yaml')])).code, 0);
  const { code, out } = await run([join(folder, 'other.yaml'), '--config', join(folder, 'config.yaml')]);
  assert.equal(code, 1);
  assert.doesNotMatch(out, /--config/);
});
