/** Whatever the pages name in `code` must be there: reasons, metrics, settings, fields of policies. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { fieldsOf, type JsonSchema } from '../../docs/generate/json-schema.ts';
import { baseSteps, imageUses } from '../../src/core/model/base-next-step.ts';
import { dependentStates } from '../../src/service/api/base-view.ts';
import { problemKinds } from '../../src/service/api/problem.ts';
import { builtInTargets } from '../../src/core/model/built-in-targets.ts';
import { toStructuralSchema } from '../../src/service/resources/structural-schema.ts';
import * as v1 from '../../src/service/resources/v1.ts';
import * as v1alpha1 from '../../src/conversion/v1alpha1.ts';
import { configSchema } from '../../src/service/config/schema.ts';
import { notificationTarget } from '../../src/notify/resource/kind.ts';
import { targetSchema } from '../../src/notify/resource/schema.ts';
import { targetReasons } from '../../src/core/model/notification-target.ts';
import { noticeKinds, noticeSubjects } from '../../src/core/model/notice.ts';
import { documentation, reasons } from '../../src/core/model/reasons.ts';
import { failureSides } from '../../src/core/rollout/failure-sides.ts';
import { policyReasons } from '../../src/bases/rebase/rebase-for-policy.ts';
import { finalReasons } from '../../src/core/model/rebase-rules.ts';
import { rules } from '../../src/bases/rebase/rules/index.ts';
import { baseSchema } from '../../src/bases/resource/schema.ts';
import { filters } from '../../src/notify/template-budget.ts';
import { sharedIssuers } from '../../src/service/receive/issuers.ts';
import { logFields } from '../../src/service/telemetry/log-fields.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { files, read } from '../structure/sources.ts';
import { anchorsOf, codeSpansOf, pages as allPages, root } from './markdown.ts';

// What was is told in the changelog.
const pages = allPages.filter(({ path }) => path !== 'CHANGELOG.md');

const policySchemas = [v1.schema, v1alpha1.schema, baseSchema, targetSchema].map((schema) => toStructuralSchema(schema) as JsonSchema);
const policyFields = policySchemas.flatMap((schema) => [...fieldsOf(schema, '')]);
const settings = [...fieldsOf(JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { io: 'input' }))) as JsonSchema, '')];

/** Every word of a page that looks like one, and where it is. */
function* namesLike(pattern: RegExp): Generator<{ name: string; path: string }> {
  for (const { path, text } of pages)
    for (const code of codeSpansOf(text)) {
      const [, name] = pattern.exec(code) ?? [];
      if (name !== undefined) yield { name, path };
    }
}

describe('reasons', () => {
  const conditions = 'NotActing ApprovalRequired PolicyChange CrossNamespace';
  const ofKubernetes =
    'CrashLoopBackOff ImagePullBackOff ReplicaFailure OrderedReady OnDelete NotIn StatefulSet DaemonSet CronJob ReplicaSet ClusterRole ImagePolicy NodePort LoadBalancer';
  const ofOthers =
    'HelmRelease HelmRepository HelmChart ApplicationSet ImageUpdater ImageRepository ImageUpdateAutomation AcrPull RateLimit CloudEvents';
  /** Pages for developers also name what is in the sources. */
  const ofTheCode = new Set(files.flatMap((file) => read(file).split(/\W+/)));
  const isForDevelopers = (path: string) => path === 'CONTRIBUTING.md' || path.startsWith('src/');
  const known = new Set([
    ...Object.keys(reasons),
    ...rules.map(({ id }) => id),
    ...finalReasons,
    ...noticeKinds,
    ...noticeSubjects,
    ...targetReasons,
    notificationTarget.kind,
    ...policyReasons,
    ...policyFields.flatMap(({ schema }) => schema.enum ?? []).map(String),
    ...Object.keys({ ...failureSides, ...baseSteps, ...problemKinds }),
    ...imageUses,
    ...dependentStates,
    ...[conditions, ofKubernetes, ofOthers].flatMap((names) => names.split(' ')),
  ]);
  test('exist, wherever a page names one', () => {
    const unknown = [...namesLike(/^([A-Z][a-z]+(?:[A-Z][a-z]+)+)$/)].filter(
      ({ name, path }) => !known.has(name) && !name.startsWith('ImageWatcher') && !(isForDevelopers(path) && ofTheCode.has(name)),
    );
    assert.deepEqual(unknown, []);
  });
});

describe('alerts', () => {
  const file = join(root, 'charts/image-watcher/files/alerts.yaml');
  const named = new Set([...namesLike(/^(ImageWatcher[A-Z][A-Za-z]+)$/)].map(({ name }) => name));
  test('of the chart are all in docs/alerts.md, and no others', { skip: !existsSync(file) && 'the chart is not here' }, () => {
    const alerts = [...readFileSync(file, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    assert.deepEqual([...named].sort(), alerts.sort());
  });
  test('each lead to a section of docs/alerts.md with what it means, what to check and what to do', { skip: !existsSync(file) }, () => {
    const { groups } = parse(readFileSync(file, 'utf8')) as {
      groups: { rules: { alert: string; annotations: Record<string, string> }[] }[];
    };
    const text = readFileSync(join(root, 'docs/alerts.md'), 'utf8');
    const rules = groups.flatMap(({ rules }) => rules);
    assert.ok(rules.length > 10);
    for (const { alert, annotations } of rules) {
      const anchor = alert.toLowerCase();
      assert.equal(annotations['runbook_url'], `${documentation}/alerts.md#${anchor}`);
      assert.ok(anchorsOf(text).has(anchor), alert);
      const [, section = ''] = text.split(`\n## ${alert}\n`);
      const own = section.split('\n## ')[0] ?? '';
      for (const part of ['**Means**: ', '**Check**: ', '**Do**: '])
        assert.ok(own.includes(part.trimEnd()), `${alert} does not say ${part}`);
    }
  });
});

describe('metrics', () => {
  const named = [...namesLike(/^(image_watcher_[a-z_]+|[a-z]+(?:_[a-z]+)+)(?:\{.*\})?(?: [0-9.]+)?$/)];
  test('exist, with and without their prefix', async () => {
    const metrics = (await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name.replace(/^image_watcher_/, ''));
    // Fields of senders and of Kubernetes.
    const others = [
      'email_verified',
      'jpd_origin',
      'repository_url',
      'callback_url',
      'docker_url',
      'resource_url',
      'repo_name',
      'image_name',
      'metadata_read',
      'event_types',
      'auth_header',
      'runbook_url',
      'id_tokens',
      // Of CI systems, and what they are sent.
      'in_progress',
      'repository_dispatch',
      'workflow_dispatch',
      'client_payload',
      'base_image',
      'base_tag',
      'base_digest',
      'request_id',
      'read_registry',
      // Of other updaters.
      'ca_file',
      ...[...sharedIssuers.values()].flatMap(({ customerClaims }) => customerClaims),
      ...Object.keys(logFields),
      // Of templates.
      ...filters,
    ];
    const unknown = named.filter(({ name }) => !metrics.includes(name.replace(/^image_watcher_/, '')) && !others.includes(name));
    assert.deepEqual(unknown, []);
    assert.ok(named.length > 40);
  });
});

describe('settings and fields', () => {
  const settingPaths = new Set(settings.map(({ path }) => path));
  const fieldPaths = new Set(policyFields.map(({ path }) => path));
  const leadsSomewhere = (name: string) => settingPaths.has(name) || fieldPaths.has(name) || fieldPaths.has(`spec.${name}`);
  /** The first words of settings and of a policy's spec: what begins with another one is neither. */
  const ours = new Set(
    [...settingPaths, ...[...fieldPaths].map((path) => path.replace(/^spec\./, ''))].map((path) => path.split(/[.[]/)[0]),
  );
  // Of workloads, custom resources and definitions.
  const ofOthers = new Set([
    'spec.template',
    'spec.template.metadata.name',
    'spec.jobTemplate',
    'spec.volumes[].image.reference',
    'spec.kafka.version',
    'spec.progressDeadlineSeconds',
    'spec.values.image.tag',
    'spec.source.kustomize.images',
    'spec.source.helm.parameters',
    'spec.source.helm.valuesObject',
    'spec.workflowSpec',
    'spec.chartRef',
    'spec.chart.spec.chart',
    'status.storedVersions',
    // Of Argo CD, its image updater, and Flux.
    'status.resources',
    'registries.conf',
    'update.path',
    // A key of the ConfigMap image-watcher-settings.
    'receivers.yaml',
    // A group of Kubernetes.
    'events.k8s.io',
    ...builtInTargets.flatMap(({ fields }) =>
      fields.flatMap(({ path, repository, version }) => [path, repository ?? [], version ?? []].flat()),
    ),
  ]);

  test('exist, wherever a page names one', () => {
    const unknown = [...namesLike(/^([a-z][A-Za-z0-9]*(?:\[\])?(?:\.[A-Za-z0-9]+(?:\[\])?)+)$/)].filter(({ name }) => {
      const first = name.split(/[.[]/)[0];
      const isPolicy = first === 'spec' || first === 'status';
      const isFile = name.endsWith('.ts');
      return !isFile && (isPolicy || ours.has(first ?? '')) && !ofOthers.has(name) && !leadsSomewhere(name);
    });
    assert.deepEqual(unknown, []);
  });
});

test('docs/receivers.md names each issuer that customers share, with the claims that tell them apart', () => {
  const lines = readFileSync(join(root, 'docs/receivers.md'), 'utf8').split('\n');
  for (const [issuer, { customerClaims }] of sharedIssuers) {
    if (customerClaims.length === 0) continue;
    const line = lines.find((candidate) => candidate.trim().startsWith(`| \`${issuer}\` |`)) ?? '';
    for (const claim of customerClaims) assert.ok(line.includes(`\`${claim}\``), `${issuer}: ${claim}`);
  }
});
