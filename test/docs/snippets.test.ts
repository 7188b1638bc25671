/** Every piece of YAML in the pages is what it looks like: a policy, settings, values of the chart, an object of a cluster, or a file of another program. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { historySchema } from '../../src/cli/backtest/past-schema.ts';
import { casesSchema } from '../../src/cli/cases/cases-file.ts';
import { isPolicy } from '../../src/service/resources/validate.ts';
import { lintText } from '../../src/cli/lint/lint-text.ts';
import { configSchema } from '../../src/service/config/schema.ts';
import type { CustomTarget } from '../../src/core/model/field-rules.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { renderChart } from '../harness/helm.ts';
import { fencesOf, pages } from './markdown.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import { resources } from '../harness/resource-group.ts';

interface Snippet {
  readonly path: string;
  readonly body: string;
  readonly value: Record<string, unknown>;
}

type Kind = 'cases' | 'policy' | 'part of a policy' | 'settings' | 'values' | 'object' | 'of others';

/** Files of other programs, by their first line or their first key. */
const others = [
  /^# (?:[\w-]+\/)?kustomization\.yaml$/,
  /^# harbor\.yaml$/,
  /^# tunnel\.yaml\b/,
  /^# \.github\/workflows\//,
  /^# \.gitlab-ci\.yml$/,
  // The configuration of CNCF Distribution, and rules of a role.
  /^(?:notifications|rules):$/,
];

const settings = Object.keys(configSchema.shape);
const snippets = pages.flatMap(({ path, text }) =>
  fencesOf(text)
    .flatMap(({ language, body }) => (language === 'yaml' ? [body] : hereDocumentsOf(body)))
    .flatMap((body) => parseAllDocuments(body).map((document): Snippet => ({ path, body, value: document.toJS() as Snippet['value'] }))),
);

/** What a script gives to `kubectl apply -f -`. */
function hereDocumentsOf(script: string): string[] {
  return [...script.matchAll(/<<'YAML'\n([^]*?)^YAML$/gm)].map(([, body = '']) => body);
}

function kindOf({ path, body, value }: Snippet): Kind | undefined {
  const [first = ''] = body.split('\n');
  const keys = Object.keys(value);
  if (others.some((pattern) => pattern.test(first))) return 'of others';
  if (isPolicy(value, resources)) return 'policy';
  if (keys.includes('cases')) return 'cases';
  if (keys.join() === 'images' && path === 'docs/test-policies.md') return 'cases';
  if (typeof value['kind'] === 'string') return 'object';
  if (first.startsWith('# values.yaml') || path.startsWith('charts/') || keys.includes('permissions')) return 'values';
  if (keys.every((key) => settings.includes(key))) return 'settings';
  if (keys.includes('spec') || keys.includes('targets')) return 'part of a policy';
  return undefined;
}

const ofKind = (kind: Kind) => snippets.filter((snippet) => kindOf(snippet) === kind);

test('the cases of image-watcher test in the pages are valid', () => {
  const problems = ofKind('cases').flatMap(
    ({ value }) => ('cases' in value ? casesSchema : historySchema).safeParse(value).error?.issues ?? [],
  );
  assert.deepEqual([ofKind('cases').length > 0, problems], [true, []]);
});

test('each piece of YAML in the pages is of a known kind', () => {
  assert.ok(snippets.length > 80, String(snippets.length));
  assert.deepEqual(
    snippets.filter((snippet) => kindOf(snippet) === undefined).map(({ path, body }) => `${path}: ${body}`),
    [],
  );
});

/** What the operator allows on the same page. */
function allowedOn(page: string): { readonly customTargets: CustomTarget[] } {
  const settings = ofKind('settings').filter(({ path }) => path === page);
  return { customTargets: settings.flatMap(({ value }) => configSchema.parse(value).customTargets) };
}

test('the policies in the pages are valid', () => {
  for (const { path, body } of ofKind('policy'))
    assert.deepEqual(lintText(body, resources, allowedOn(path)).problems, [], `${path}\n${body}`);
});

test('the parts of policies in the pages are valid within a policy', () => {
  for (const { path, body, value } of ofKind('part of a policy')) {
    const base = { image: 'harbor.example.com/shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] };
    const spec = { ...base, ...(value['spec'] ?? value) };
    const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: 'web', namespace: 'shop' }, spec };
    assert.deepEqual(lintText(stringify(policy), resources, allowedOn(path)).problems, [], `${path}\n${body}`);
  }
});

function assertSettings(value: unknown, path: string, body: string): void {
  const parsed = configSchema.safeParse(value);
  assert.ok(parsed.success, `${path}\n${body}\n${String(parsed.error?.message)}`);
}

test('the settings in the pages are valid', () => {
  for (const { path, body, value } of ofKind('settings')) assertSettings(value, path, body);
});

describe('the values of the chart in the pages', { skip: (await lacksHelm()) ?? false }, () => {
  for (const { path, body, value } of ofKind('values')) {
    test(`render where ${path} sets ${Object.keys(value).join(', ')}`, async () => {
      assert.ok((await renderChart(value)).length > 10);
      assertSettings(value['config'] ?? {}, path, body);
    });
  }
});

describe('the objects in the pages', () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await borrowControlPlane();
    for (const name of ['image-watcher', 'shop']) await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } });
    await installDefinition(cluster, 'analysistemplate');
  });
  after(() => cluster.stop());

  // test/end-to-end/artifacts.test.ts applies those of charts.md, with the definitions of their projects.
  for (const { path, value } of ofKind('object').filter((one) => one.path !== 'docs/charts.md')) {
    const { apiVersion, kind, metadata } = value as { apiVersion: string; kind: string; metadata: { name: string; namespace?: string } };
    test(`are accepted by the API server: ${kind} ${metadata.name} of ${path}`, async () => {
      const plural = kind === 'Ingress' ? 'ingresses' : `${kind.toLowerCase()}s`;
      const url = `/apis/${apiVersion}/namespaces/${metadata.namespace}/${plural}?dryRun=All&fieldValidation=Strict`;
      await cluster.request('POST', url, value);
    });
  }
});
