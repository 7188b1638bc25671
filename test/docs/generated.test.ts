import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { generatedFiles } from '../../docs/generate/files.ts';
import { describeType } from '../../docs/generate/describe-type.ts';
import { isRepeated } from '../../docs/generate/configuration.ts';
import { fieldsOf, type Field, type JsonSchema } from '../../docs/generate/json-schema.ts';
import { renderTemplate } from '../../docs/generate/template.ts';
import { baseSchema } from '../../src/bases/resource/schema.ts';
import { toStructuralSchema } from '../../src/service/resources/structural-schema.ts';
import * as v1 from '../../src/service/resources/v1.ts';
import * as v1alpha1 from '../../src/conversion/v1alpha1.ts';
import { commands } from '../../src/cli/index.ts';
import { configSchema } from '../../src/service/config/schema.ts';
import { reasons } from '../../src/core/model/reasons.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';

const root = join(import.meta.dirname, '../..');
const files = generatedFiles();
const pageOf = (path: string) => files.find((file) => file.path === path)?.content ?? '';

for (const { path, content } of files) {
  test(`${path} is up to date with the code`, () => {
    assert.ok(readFileSync(join(root, path), 'utf8') === content, `${path} is stale: run "npm run generate"`);
  });
}

const programCommands = await Promise.all(commands.map(({ load }) => load()));
const ofEveryCommand = ['color', 'help', 'kubeconfig', 'context'];
const withoutBreaks = (text: string) => text.replaceAll(/\n\s+/g, ' ');

function assertShown(paths: readonly string[], names: readonly string[]): void {
  const text = paths.map(pageOf).join('\n');
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => !text.includes(`\`${name}\``)),
    [],
  );
}

const policyFields = (schema: z.ZodType) => [...fieldsOf(toStructuralSchema(schema) as JsonSchema, '')].map(({ path }) => path);
const settings: Field[] = [...fieldsOf(JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { io: 'input' }))) as JsonSchema, '')];
const isLeaf = ({ path }: Field) => !settings.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[`));

describe('the generated pages contain all', () => {
  test('fields of ImagePolicy v1', () => assertShown(['docs/policies/reference.md', 'docs/policies/status.md'], policyFields(v1.schema)));
  test('fields of ImagePolicy v1alpha1', () => assertShown(['docs/policies/v1alpha1.md'], policyFields(v1alpha1.schema)));
  test('fields of BaseImagePolicy', () =>
    assertShown(['docs/policies/base-image-policy.md', 'docs/policies/base-image-status.md'], policyFields(baseSchema)));
  test('reasons', () => assertShown(['docs/reasons.md'], Object.keys(reasons)));
  test('settings', () =>
    assertShown(
      ['docs/configuration.md'],
      settings.filter((field) => isLeaf(field) && !isRepeated(field.path)).map(({ path }) => path),
    ));
  test('metrics', async () => {
    const names = (await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name);
    assertShown(
      ['docs/metrics.md'],
      names.filter((name) => name.startsWith('image_watcher_')),
    );
  });
  test('options and arguments of commands', () => {
    const page = pageOf('docs/commands.md');
    for (const command of programCommands.flatMap((one) => one.commands ?? [one])) {
      const [, section = ''] = page.split(`\n### ${command.name.split(' ')[0]}\n`);
      const [text = ''] = section.split('\n### ');
      assert.ok(text.includes(`Usage: image-watcher ${command.name} `), command.name);
      for (const [long, option] of Object.entries(command.options ?? {})) {
        // Its help is in lines of 80 characters.
        const isOwn = text.includes(`--${long}`) && withoutBreaks(text).includes(option.about);
        const isShared = page.includes(`: ${option.about}\n`) && (text.includes(`\`--${long}\``) || ofEveryCommand.includes(long));
        assert.ok(isOwn || isShared, `${command.name} --${long}`);
      }
    }
  });
  test('samples', () => {
    const templates = globSync('policies{.md,/*.md}', { cwd: join(root, 'docs/templates') });
    const text = templates.map((file) => readFileSync(join(root, 'docs/templates', file), 'utf8')).join('\n');
    for (const sample of globSync('*.yaml', { cwd: join(root, 'crd/samples') })) assert.ok(text.includes(`{{sample ${sample}}}`), sample);
  });
  test('settings with a description', () => {
    assert.deepEqual(
      settings.filter((field) => isLeaf(field) && !field.schema.description).map(({ path }) => path),
      [],
    );
  });
});

for (const [schema, expected] of [
  [{ type: 'string', minLength: 1, maxLength: 9 }, 'string, 1–9 characters'],
  [{ type: 'string', minLength: 1 }, 'string, not empty'],
  [{ type: 'string', pattern: '^a|b$' }, 'string, matching `^a|b$`'],
  [{ type: 'string', enum: ['A', 'B'] }, '`A`, `B`'],
  [{ type: 'integer', minimum: 0 }, 'integer, at least 0'],
  [{ type: 'array', maxItems: 3, items: { type: 'string', maxLength: 2 } }, 'list of (string, at most 2 characters), at most 3 entries'],
  [{ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'boolean' } }, 'list of boolean, each once'],
  [{ type: 'object', maxProperties: 2, additionalProperties: { type: 'string' } }, 'map of string, at most 2 entries'],
  [{ anyOf: [{ type: 'string' }, { type: 'number', exclusiveMinimum: 0 }] }, 'string or number, more than 0'],
] satisfies [JsonSchema, string][]) {
  test(`a schema is described as "${expected}"`, () => assert.equal(describeType(schema), expected));
}

test('a template with an unknown placeholder is an error', () => {
  assert.throws(() => renderTemplate('policies.md', {}), /docs\/templates\/policies\.md: there is no part "sample"/);
});
