import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGitOpsTool } from '../../../../src/core/plan/guards/git-ops.ts';

const release = 'meta.helm.sh/release-name';

for (const [name, managers, keys, tool] of [
  ['nothing', ['kubectl'], [], undefined],
  ['Helm, by its annotation', ['kubectl', 'image-watcher'], [release], 'Helm'],
  ['Helm, by its field manager', ['helm'], [], 'Helm'],
  ['Helm, by both', ['helm'], [release], 'Helm'],
  ['a chart that Flux installs', [], [release, 'helm.toolkit.fluxcd.io/name'], 'Flux'],
  ['a chart that Flux installs, by its field manager', ['helm-controller'], [release], 'helm-controller'],
  ['a chart that Fleet installs', ['helm'], [release, 'objectset.rio.cattle.io/id'], 'Fleet'],
  ['what somebody installed with Helm, before Argo CD managed it', ['helm', 'argocd-controller'], [release], 'argocd-controller'],
  ['a label that says Helm, as "helm template" writes it', ['kubectl'], ['app.kubernetes.io/managed-by'], undefined],
] as const)
  test(`the GitOps tool of a workload is ${tool ?? 'none'} in the case "${name}"`, () =>
    assert.equal(findGitOpsTool(managers, keys), tool));
