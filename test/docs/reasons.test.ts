/** docs/reasons.md explains each reason and condition, under the anchors that commands and conditions lead to. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { conditions } from '../../docs/explanations/conditions.ts';
import { explanations, reasonSections, usuallyShown } from '../../docs/explanations/reasons.ts';
import { logActions } from '../../docs/explanations/log-messages.ts';
import { documentation, pageOf, reasons, type Reason } from '../../src/core/model/reasons.ts';
import { conditionTypes } from '../../src/core/status/condition-states.ts';
import { logMessages } from '../../src/service/telemetry/log-messages.ts';
import { anchorsOf, root } from './markdown.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const page = read('docs/reasons.md');
const anchors = anchorsOf(page);
const names = Object.keys(reasons) as Reason[];

/** The explanation below this heading. */
function sectionOf(heading: string): string {
  const [, rest = ''] = page.split(`\n### ${heading}\n`);
  return rest.split(/\n#{2,3} /)[0] ?? '';
}

for (const reason of names) {
  test(`${reason} has a section with what it means, where it shows, its cause and what to do`, () => {
    const anchor = pageOf(reason).slice(`${documentation}/reasons.md#`.length);
    assert.ok(anchors.has(anchor), anchor);
    const text = sectionOf(reason);
    for (const part of ['- **Cause**: ', '- **What to do**: ']) assert.ok(text.includes(part), part);
    const usual = Object.entries(usuallyShown).find(([name]) => reasonSections[name]?.[reason])?.[1];
    assert.equal(text.includes(`- **Where**: ${explanations[reason].shown}`), explanations[reason].shown !== usual);
    assert.ok(text.trim().toLowerCase().startsWith(reasons[reason].toLowerCase()));
  });
}

test('each reason is in one section of docs/reasons.md, and in its list', () => {
  const listed = Object.values(reasonSections).flatMap((section) => Object.keys(section));
  assert.deepEqual(listed.toSorted(), names.toSorted());
  const template = read('docs/templates/reasons.md');
  for (const name of Object.keys(reasonSections))
    for (const part of ['reasons', 'index']) assert.equal(template.split(`{{${part} ${name}}}`).length, 2, `${part} ${name}`);
});

test('the place where most reasons of a section show is given once', () => {
  for (const [name, usual] of Object.entries(usuallyShown)) {
    assert.ok(Object.values(reasonSections[name] ?? {}).filter(({ shown }) => shown === usual).length > 2, name);
    assert.equal(page.split(`\nWhere, unless a reason says otherwise: ${usual}\n`).length, 2, name);
  }
});

test('each condition has a section of its own, beside the reason of the same name', () => {
  for (const type of conditionTypes) {
    assert.ok(anchors.has(`condition-${type.toLowerCase()}`), type);
    assert.ok(sectionOf(`Condition ${type}`).includes('- **What to do**: '), type);
  }
});

test('the description that kubectl explain prints for a reason links to the page', () => {
  const { spec } = parse(readFileSync(join(root, 'crd/imagepolicies.yaml'), 'utf8')) as { spec: { versions: Version[] } };
  assert.deepEqual(
    spec.versions.map(({ schema }) => {
      const { reason } = schema.openAPIV3Schema.properties.status.properties.conditions.items.properties;
      return reason.description.includes(`${documentation}/reasons.md`);
    }),
    spec.versions.map(() => true),
  );
});

interface Version {
  schema: {
    openAPIV3Schema: {
      properties: { status: { properties: { conditions: { items: { properties: { reason: { description: string } } } } } } };
    };
  };
}

describe('docs/logs.md says what to do about each message', () => {
  for (const [message, { levels }] of Object.entries(logMessages)) {
    test(`"${message}" has a row`, () => {
      const row = read('docs/logs.md')
        .split('\n')
        .find((line) => line.startsWith(`| \`${message}\` |`));
      assert.ok(row !== undefined, 'docs/logs.md has no row for it');
      const isProblem = levels.some((level) => level === 'warn' || level === 'error');
      assert.ok(!isProblem || !row.endsWith('| Nothing. |'), 'a warning or an error says what to do');
    });
  }
  test('the page has no row for an unknown message', () =>
    assert.deepEqual(Object.keys(logActions).toSorted(), Object.keys(logMessages).toSorted()));
});

test('the explanations of reasons and conditions are short sentences', () => {
  for (const [name, { shown, cause, action }] of [...Object.entries(explanations), ...Object.entries(conditions)])
    for (const text of [shown, cause, action]) {
      assert.match(text, /^(?:[A-Z`[]|image-watcher ).*[.]$/s, `${name}: ${text}`);
      assert.ok(text.length <= 450, `${name}: ${text.length} characters`);
      assert.doesNotMatch(text, / {2}/, name);
    }
});
