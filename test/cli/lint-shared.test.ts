/** What `lint` says of two policies of the files that would change one container. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { policyText } from './policy-text.ts';
import { runCommand } from './run-command.ts';

/** A policy NAME of the image web, for the Deployment web. */
const policy = (name: string, range: string, target = '') =>
  policyText('web')
    .replace('{name: web, namespace', `{name: ${name}, namespace`)
    .replace('semver: {}', `semver: {range: ${range}}`)
    .replace('{kind: Deployment, name: web}', `{kind: Deployment, name: web${target}}`);
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: old, image: "harbor.example.com/shop/web:1.4.0"}, {name: new, image: "harbor.example.com/shop/web:2.4.0"}]}}}
`;

async function lint(files: Readonly<Record<string, string>>, ...args: string[]) {
  const folder = tempFolder('lint');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { out, ...ran } = await runCommand('lint', [folder, ...args]);
  return { ...ran, out: out.replaceAll(`${folder}/`, '') };
}

const advice = 'name in each target the containers that the policy is for, containers: [NAME]';

test('lint warns of two policies with the same target, with both places, the consequence and the remedy', async () => {
  const files = { 'a.yaml': policy('one', '1.x'), 'b.yaml': `# two\n${policy('two', '2.x')}` };
  const { code, out, err } = await lint(files);
  assert.deepEqual([code, err], [0, '']);
  assert.equal(
    out,
    `b.yaml
  b.yaml:9:7 warning: shop/two spec.targets[0]: Deployment shop/web is also a target of shop/one (a.yaml:8:7), with the same image: shop/two would change containers that shop/one updates; ${advice}

2 policies in 2 files: nothing is wrong, 1 warning
`,
  );
  const { warnings } = JSON.parse((await lint(files, '-o', 'json')).out) as { warnings: Record<string, unknown>[] };
  assert.equal(warnings.length, 1);
  const { message, ...rest } = warnings[0] ?? {};
  assert.deepEqual(
    [rest, typeof message],
    [{ file: 'b.yaml', line: 9, column: 7, policy: 'shop/two', field: 'spec.targets[0]', reason: 'SharedContainer' }, 'string'],
  );
});

test('lint names the containers that two policies share, and accepts policies with separate containers', async () => {
  const both = await lint({ 'a.yaml': `${policy('one', '1.x')}---\n${policy('two', '2.x')}---\n${deployment}` });
  assert.match(
    both.out,
    /a\.yaml:17:7 warning: shop\/two .* of shop\/one \(a\.yaml:8:7\), .*: shop\/two would change container old that shop\/one updates; /,
  );
  const apart = `${policy('one', '1.x', ', containers: [old]')}---\n${policy('two', '2.x', ', containers: [new]')}`;
  for (const text of [apart, `${apart}---\n${deployment}`])
    assert.match((await lint({ 'a.yaml': text })).out, /: nothing is wrong(?: \(1 .*\))?\n$/);
  const same = await lint({
    'a.yaml': `${policy('one', '1.x', ', containers: [old]')}---\n${policy('two', '2.x', ', containers: [old]')}`,
  });
  assert.match(same.out, /would change container old that shop\/one updates; let only one of them name old\n/);
});

test('lint warns once, at the later place, of two policies with the same target and selection', async () => {
  const { out } = await lint({ 'a.yaml': policy('one', '1.x'), 'b.yaml': policy('two', '1.x') });
  assert.match(out, /^b\.yaml\n {2}b\.yaml:8:7 warning: shop\/two .*: both would change containers, each to its own tag; /);
  assert.match(out, / 1 warning\n$/);
});

test('lint takes short names and aliases of a registry for the same image in two policies', async () => {
  const long = policy('long', '1.x').replace('harbor.example.com/shop/web', 'docker.io/library/web');
  const short = policy('short', '2.x').replace('harbor.example.com/shop/web', 'web');
  assert.match((await lint({ 'a.yaml': `${long}---\n${short}` })).out, / 1 warning\n$/);
  const inside = policy('inside', '2.x').replace('harbor.example.com', 'registry.shop.svc:5000');
  const files = { 'a.yaml': `${policy('outside', '1.x')}---\n${inside}` };
  assert.match((await lint(files)).out, /nothing is wrong\n$/);
  const config = join(tempFolder('config'), 'config.yaml');
  writeFileSync(config, JSON.stringify({ registries: [{ host: 'harbor.example.com', aliases: ['registry.shop.svc:5000'] }] }));
  assert.match((await lint(files, '--config', config)).out, / 1 warning\n$/);
});

test('lint warns of a policy of v1alpha1 with the target of another policy, at its updateTarget', async () => {
  const old = `apiVersion: operator.technomad.dev/v1alpha1
kind: ImagePolicy
metadata: {name: old, namespace: shop}
spec:
  repository: harbor.example.com/shop/web
  tagPolicy: {strategy: SemVer, pattern: 2.x}
  updateTarget: {kind: Deployment, name: web, namespace: shop}
`;
  const { out } = await lint({ 'a.yaml': policy('one', '1.x'), 'b.yaml': old });
  assert.match(out, /b\.yaml:7:3 warning: shop\/old spec\.updateTarget: .* \(a\.yaml:8:7\)/);
});

test('lint does not warn of the same policy in two files, or of an invalid policy with the target of another one', async () => {
  const { out } = await lint({ 'a.yaml': policy('one', '1.x'), 'b.yaml': policy('one', '2.x') });
  assert.match(out, /nothing is wrong\n$/);
  const invalid = await lint({ 'a.yaml': policy('one', '1.x'), 'b.yaml': policy('two', 'nonsense') });
  assert.deepEqual([invalid.code, invalid.out.endsWith(' 1 problem\n')], [1, true], invalid.out);
});

test('lint warns of a companion image that another policy changes as well', async () => {
  const withCompanion = policy('one', '1.x').replace('spec:\n', 'spec:\n  alongside: {images: [{image: harbor.example.com/shop/proxy}]}\n');
  const proxies = policy('proxies', '1.x').replace('harbor.example.com/shop/web', 'harbor.example.com/shop/proxy');
  const { code, out } = await lint({ 'a.yaml': withCompanion, 'b.yaml': proxies });
  assert.equal(code, 0);
  assert.match(
    out,
    /a\.yaml:9:7 warning: shop\/one .*: Deployment shop\/web is also a target of shop\/proxies \(b\.yaml:8:7\): shop\/one changes harbor\.example\.com\/shop\/proxy alongside its own image, and shop\/proxies as well, .*\(CompanionShared\)/,
  );
});
