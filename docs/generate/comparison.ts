import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { toStructuralSchema } from '../../src/service/resources/structural-schema.ts';
import * as v1 from '../../src/service/resources/v1.ts';
import { configSchema } from '../../src/service/config/schema.ts';
import { targets } from '../../src/service/kube/targets.ts';
import { builtInTargets } from '../../src/core/model/built-in-targets.ts';
import { targetTypes } from '../../src/core/model/notification-target.ts';
import { guards } from '../../src/core/plan/guards/index.ts';
import { providers } from '../../src/service/receive/providers/index.ts';
import { parseRoles } from '../../src/service/compose/roles.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { systems } from '../../src/bases/triggers/systems/index.ts';
import { readVersion } from '../../src/service/config/version.ts';
import { comparedRows, documentation, otherTools, type ComparedRow } from '../explanations/comparison.ts';
import { fieldsOf, type JsonSchema } from './json-schema.ts';
import { code, table } from './markdown.ts';
import type { Parts } from './template.ts';
import { addedDefinitions } from './definitions.ts';

/** The part of docs/templates/comparison.md. */
export const comparisonParts: Parts = {
  comparison: () => {
    const tools = Object.keys(otherTools) as (keyof typeof otherTools)[];
    const rows: [keyof typeof own, ComparedRow][] = (Object.keys(comparedRows) as (keyof typeof own)[]).map((id) => [id, comparedRows[id]]);
    return table(
      ['', 'image-watcher', ...tools.map((tool) => otherTools[tool])],
      rows.map(([id, row]) => [row.topic, own[id](), ...tools.map((tool) => row[tool] ?? `[not documented](${documentation[tool]})`)]),
    );
  },
  goals: () => {
    const missed = missedGoals(readFileSync(join(import.meta.dirname, '../benchmarks.md'), 'utf8'));
    return missed.length === 0 ? 'All goals of that page are reached.' : `Goals of that page that are not reached:\n\n${missed.join('\n')}`;
  },
};

/** The goals that the page of benchmarks says were not reached, as a list. */
function missedGoals(page: string): string[] {
  return page.split(/^(?=## )/m).flatMap((part) => {
    const [, id = ''] = /^## (.+)/.exec(part) ?? [];
    const rows = part.split('\n').filter((line) => line.endsWith('| **no** |'));
    return rows.map((line) => {
      const [, what = '', , product = '', ratio = '', goal = ''] = line.split('|').map((cell) => cell.trim());
      return `- [${id}](benchmarks.md#${id}): ${what}, ${ratio === '' ? product : `${ratio} × floor`} (goal ${goal})`;
    });
  });
}

/** Our own column, from the lists in the code. */
const own: Readonly<Record<keyof typeof comparedRows, () => string>> = {
  version: () => `[${readVersion()}](../CHANGELOG.md)${hasRelease() ? '' : ', not released yet'}`,
  changes: () => {
    const custom = new Set(builtInTargets.map(({ apiVersion, kind }) => `${apiVersion.split('/')[0]}/${kind}`));
    return `[${targets.map(({ kind }) => kind).join(', ')}](targets.md), fields of ${custom.size} kinds of [custom resources](targets.md#which-fields-may-be-written), and others that you allow; no Helm releases`;
  },
  git: () => 'no: it [patches the workload](architecture.md) and records the change there',
  alone: () => '[yes](architecture.md)',
  configuration: () =>
    `[${codes(['ImagePolicy', ...addedDefinitions.flatMap(({ kind, recordsOf }) => (recordsOf === undefined ? [kind] : []))])}](policies.md)`,
  webhooks: () =>
    `${providers.length} kinds of [senders](receivers.md): ${providers.map(({ id }) => `[${senderName(id)}](receivers/${id}.md)`).join(', ')}`,
  polls: () => `as a fallback, every [${String(settingDefault('poll.interval'))}](configuration.md)`,
  killed: () => 'is in [Redis](architecture.md#guarantees-and-their-limits), and another process takes it',
  selection: () => `[${codes(Object.keys(strategies))}](policies/choose-a-tag.md)`,
  charts: () => {
    const kinds = new Set(builtInTargets.flatMap(({ kind, fields }) => (fields.some(({ chart }) => chart !== undefined) ? [kind] : [])));
    return `[when they are pushed](charts.md) to an OCI registry, in ${codes([...kinds])}`;
  },
  holds: () => `[${guards.length} guards](guards.md): ${guards.map(({ id }) => id).join(', ')}`,
  failures: () => `[${codes(choices('spec.rollout.onFailure'))}](rollouts.md)`,
  signatures: () => '[cosign](signatures.md) 2 and 3, by key or keyless; no Notation',
  vulnerabilities: () =>
    'where a policy asks for it: an image that fixes vulnerabilities of what runs [skips waits](vulnerabilities.md), and one with more of them is held; they are read from signed attestations (`vuln`, OpenVEX), Harbor or Trivy Operator, without a scanner of its own',
  bases: () =>
    `[yes](base-images.md): reports, restarts, [rebases](rebase.md), or has them rebuilt by CI ([${codes(Object.keys(systems))}](rebuilds.md))`,
  environments: () => 'within a cluster: production [follows](environments.md) what staging has run for a time',
  clusters: () => 'an [installation](scale.md#a-million-policies) in each',
  notifications: () => `[${codes(targetTypes)}](notifications.md)`,
  dashboard: () => '[yes](dashboard.md), with actions',
  needs: () => `Redis or Valkey, and processes with the [roles](operations.md) ${codes(roles())}`,
};

function codes(names: readonly string[]): string {
  return names.map(code).join(', ');
}

/** `Amazon ECR`: how the page of a sender is headed. */
function senderName(id: string): string {
  const [, name] = /^# (.+) \(`/.exec(readFileSync(join(import.meta.dirname, `../receivers/${id}.md`), 'utf8')) ?? [];
  if (name === undefined) throw new Error(`docs/receivers/${id}.md has no heading such as "# NAME (\`${id}\`)"`);
  return name;
}

function roles(): string[] {
  const all = parseRoles(undefined);
  if (typeof all === 'string') throw new Error(all);
  return [...all];
}

function choices(path: string): string[] {
  const field = [...fieldsOf(toStructuralSchema(v1.schema) as JsonSchema, '')].find((one) => one.path === path);
  if (field?.schema.enum === undefined) throw new Error(`${path} has no list of values`);
  return field.schema.enum.map(String);
}

function settingDefault(path: string): unknown {
  const schema = JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { io: 'input' }))) as JsonSchema;
  const field = [...fieldsOf(schema, '')].find((one) => one.path === path);
  if (field?.schema.default === undefined) throw new Error(`${path} has no default`);
  return field.schema.default;
}

function hasRelease(): boolean {
  return /^## \[?\d/m.test(readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8'));
}
