import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { customResourceDefinitionYaml } from '../../src/conversion/definition.ts';
import { apiParts, examplesText, openApiText } from './api.ts';
import { castOf } from './cast.ts';
import { commandParts } from './commands.ts';
import { comparisonParts } from './comparison.ts';
import { configurationParts } from './configuration.ts';
import { filesWithCoordinates } from './coordinates.ts';
import { differencesParts } from './differences.ts';
import { guardParts } from './guards.ts';
import { logParts } from './logs.ts';
import { metricsParts } from './metrics.ts';
import { securityParts } from './permissions.ts';
import { chinesePolicyParts, policyParts } from './policies.ts';
import { chineseReasonParts, reasonParts } from './reasons.ts';
import { shippedPermissionsSource } from './shipped-permissions.ts';
import { renderTemplate } from './template.ts';
import { addedDefinitions } from './definitions.ts';

/** A file of the repository whose content follows from the code. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly content: string;
}

/** Where the fields of policies are described: by task, and in full. */
const policyPages = [
  '',
  '/choose-a-tag',
  '/when-to-update',
  '/which-workloads',
  '/rollouts-and-signatures',
  '/reference',
  '/status',
  '/v1alpha1',
  '/base-image-policy',
  '/base-image-status',
  '/notification-target',
].map((page) => `policies${page}`);

const tutorial = readFileSync(join(import.meta.dirname, '../tutorial.md'), 'utf8');

/** Every generated file, as it should be; those of charts/install, which need Helm, are in install.ts. */
export function generatedFiles(): readonly GeneratedFile[] {
  return [
    ...filesWithCoordinates(),
    { path: 'docs/tutorial.cast', content: castOf('image-watcher: from the first push to a rollback', tutorial) },
    { path: 'crd/imagepolicies.yaml', content: customResourceDefinitionYaml() },
    ...addedDefinitions.map(({ plural, yaml }) => ({ path: `crd/${plural}.yaml`, content: yaml })),
    { path: 'src/service/doctor/shipped-permissions.ts', content: shippedPermissionsSource() },
    ...policyPages.flatMap((page) => [
      { path: `docs/${page}.md`, content: renderTemplate(`${page}.md`, policyParts) },
      { path: `docs/${page}.zh-CN.md`, content: renderTemplate(`${page}.zh-CN.md`, chinesePolicyParts) },
    ]),
    { path: 'docs/operations/api.md', content: renderTemplate('operations/api.md', apiParts) },
    { path: 'docs/operations/openapi.json', content: openApiText() },
    { path: 'src/service/api/examples.json', content: examplesText() },
    { path: 'docs/command-line.md', content: renderTemplate('command-line.md', commandParts) },
    { path: 'docs/commands.md', content: renderTemplate('commands.md', commandParts) },
    { path: 'docs/comparison.md', content: renderTemplate('comparison.md', comparisonParts) },
    { path: 'docs/configuration.md', content: renderTemplate('configuration.md', configurationParts) },
    { path: 'docs/differences.md', content: renderTemplate('differences.md', differencesParts) },
    { path: 'docs/guards.md', content: renderTemplate('guards.md', guardParts) },
    { path: 'docs/logs.md', content: renderTemplate('logs.md', logParts) },
    { path: 'docs/metrics.md', content: renderTemplate('metrics.md', metricsParts) },
    { path: 'docs/reasons.md', content: renderTemplate('reasons.md', reasonParts) },
    { path: 'docs/reasons.zh-CN.md', content: renderTemplate('reasons.zh-CN.md', chineseReasonParts) },
    { path: 'docs/security.md', content: renderTemplate('security.md', securityParts) },
  ];
}
