/** Who may import which package, and what a source may not do. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { describeImport, files, imports, isIn, pureRooms, read, resolve } from './sources.ts';

test('the import parser finds all imports', () => {
  assert.ok(files.length > 80 && imports.length > 200);
  assert.ok(imports.some(({ file, from }) => file === 'src/core/select/strategies/semver.ts' && from === 'semver'));
});

test('core/async imports only errors and bounded JSON of the model, and pure rooms import only pure packages', () => {
  const ofAsync = imports.filter((one) => isIn(one.file, ['core/async']) && isIn(resolve(one), ['core/model']));
  assert.deepEqual([...new Set(ofAsync.map(resolve))].sort(), ['src/core/model/bounded-json.ts', 'src/core/model/errors.ts']);
  const packages = imports.filter((one) => isIn(one.file, pureRooms) && !one.from.startsWith('.'));
  assert.deepEqual([...new Set(packages.map(resolve))].sort(), ['node:crypto', 'node:util', 're2js', 'semver', 'zod']);
});

test('pure rooms have no clock, no randomness, no environment, no console and no timers', () => {
  for (const file of files.filter((file) => isIn(file, pureRooms) || file === 'src/core/async/bounded-map.ts')) {
    assert.doesNotMatch(
      read(file),
      /Date\.now\(|new Date\(\)|Math\.random|performance\.|process\.|console\.|setTimeout|setInterval|fetch\(/,
      file,
    );
  }
});

test('no file is longer than 300 lines', () => {
  assert.deepEqual(
    files.filter((file) => read(file).split('\n').length > 301),
    [],
  );
});

const importers: Record<string, { folders: string[]; types?: string[] }> = {
  fastify: { folders: ['service/receive', 'service/operations', 'service/api', 'conversion'], types: ['service/compose', 'dashboard'] },
  bullmq: { folders: ['service/queue'], types: ['service/compose', 'bases', 'notify'] },
  ioredis: { folders: ['service/queue'], types: ['service/compose', 'bases', 'notify'] },
  '@kubernetes/client-node': { folders: ['service/kube'] },
  // receive: keys and certificates of senders, in one file.
  undici: { folders: ['service/proxy', 'service/registry', 'service/kube', 'service/receive', 'conversion'] },
  '@aws-sdk/client-ecr': { folders: ['service/registry'] },
  '@aws-sdk/credential-provider-node': { folders: ['activity'] },
  '@smithy/signature-v4': { folders: ['activity'] },
  '@marcbachmann/cel-js': { folders: ['service/resources'] },
  jose: { folders: ['service/receive', 'dashboard'] },
  'openid-client': { folders: ['dashboard'] },
  '@peculiar/x509': { folders: ['conversion/certificates'] },
  pino: { folders: ['service/telemetry'] },
  liquidjs: { folders: ['notify'] },
  '@opentelemetry/api': { folders: ['service/telemetry'] },
  '@opentelemetry/core': { folders: ['service/telemetry'] },
  '@opentelemetry/exporter-trace-otlp-proto': { folders: ['service/telemetry'] },
  '@opentelemetry/resources': { folders: ['service/telemetry'] },
  '@opentelemetry/sdk-trace': { folders: ['service/telemetry'] },
  ...Object.fromEntries(['bundle', 'protobuf-specs', 'verify'].map((name) => [`@sigstore/${name}`, { folders: ['service/verify'] }])),
  '@prometheus-io/client': { folders: ['service/telemetry'], types: ['service/operations'] },
  commander: { folders: ['service/command-line'] },
  semver: { folders: ['core/select', 'core/plan'] },
  re2js: { folders: ['core/model'] },
};

for (const [name, { folders, types = [] }] of Object.entries(importers)) {
  test(`${name} is imported by ${folders.join(', ')} only`, () => {
    const all = imports.filter((one) => resolve(one) === name);
    assert.ok(all.length > 0, 'nobody imports it');
    const wrong = all.filter(({ file, isType }) => !isIn(file, folders) && !(isType && isIn(file, types)));
    assert.deepEqual(wrong.map(describeImport), []);
  });
}

test('the packages for traces are loaded only if traces are enabled', () => {
  const loads = imports.filter((one) => !one.isType && resolve(one) === 'src/service/telemetry/open-tracing.ts');
  assert.deepEqual(loads.map(describeImport), ['src/service/telemetry/open-telemetry.ts imports ./open-tracing.ts']);
  assert.match(read('src/service/telemetry/open-telemetry.ts'), /await import\('\.\/open-tracing\.ts'\)/);
  const others = imports.filter((one) => !one.isType && resolve(one).startsWith('@opentelemetry/'));
  assert.deepEqual([...new Set(others.map(({ file }) => file))], ['src/service/telemetry/open-tracing.ts']);
});

test('the code that makes certificates is loaded only when one is made', () => {
  const loads = imports.filter((one) => !one.isType && resolve(one) === 'src/conversion/certificates/make-certificate.ts');
  assert.deepEqual(loads.map(({ file }) => file).sort(), ['src/conversion/certificates/material.ts', 'src/conversion/compose-convert.ts']);
  for (const { file } of loads) assert.match(read(file), /await import\('\.\/(?:certificates\/)?make-certificate\.ts'\)/, file);
});

test('the rooms receive, registry, kube and verify import neither each other nor reconcile or poll', () => {
  const rooms = ['service/receive', 'service/reconcile', 'service/registry', 'service/kube', 'service/poll', 'service/verify'];
  const wrong = imports
    .filter(
      (one) =>
        !one.isType &&
        isIn(one.file, ['service/receive', 'service/registry', 'service/kube', 'service/verify']) &&
        isIn(resolve(one), rooms),
    )
    .filter((one) => {
      const [, folder = '', room = ''] = one.file.split('/');
      return !isIn(resolve(one), [`${folder}/${room}`]);
    });
  assert.deepEqual(wrong.map(describeImport), []);
});

test('only the configuration reads the environment', () => {
  assert.deepEqual(
    files.filter((file) => /process\s*\.\s*env|\benv\b.*from 'node:process'/.test(read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''))),
    ['src/service/config/environment.ts'],
  );
});

test('only main ends the process', () => {
  assert.deepEqual(
    files.filter((file) => /process\.exit\(|process\.exitCode/.test(read(file))),
    ['src/main.ts'],
  );
});

test('every index.ts is only a list, and no file is a collection of helpers', () => {
  const drawers = files.filter((file) => /^(?:utils?|helpers?|common|types|misc|shared)\.ts$/.test(basename(file)));
  assert.deepEqual(drawers, []);
  for (const file of files.filter((file) => basename(file) === 'index.ts'))
    assert.doesNotMatch(read(file), /^export (?:async )?function|^export \*/m, file);
});
