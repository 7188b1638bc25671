import { customResourceDefinitionYaml } from '../../src/api-versions/crd.ts';
import { commandParts } from './commands.ts';
import { configurationParts } from './configuration.ts';
import { filesWithCoordinates } from './coordinates.ts';
import { differencesParts } from './differences.ts';
import { logParts } from './logs.ts';
import { metricsParts } from './metrics.ts';
import { securityParts } from './permissions.ts';
import { policyParts } from './policies.ts';
import { reasonParts } from './reasons.ts';
import { renderTemplate } from './template.ts';

/** A file of the repository whose content follows from the code. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly content: string;
}

/** Every generated file, as it should be; those of charts/install, which need Helm, are in install.ts. */
export function generatedFiles(): readonly GeneratedFile[] {
  return [
    ...filesWithCoordinates(),
    { path: 'crd/imagepolicies.yaml', content: customResourceDefinitionYaml() },
    { path: 'docs/policies.md', content: renderTemplate('policies.md', policyParts) },
    { path: 'docs/command-line.md', content: renderTemplate('command-line.md', commandParts) },
    { path: 'docs/configuration.md', content: renderTemplate('configuration.md', configurationParts) },
    { path: 'docs/differences.md', content: renderTemplate('differences.md', differencesParts) },
    { path: 'docs/logs.md', content: renderTemplate('logs.md', logParts) },
    { path: 'docs/metrics.md', content: renderTemplate('metrics.md', metricsParts) },
    { path: 'docs/reasons.md', content: renderTemplate('reasons.md', reasonParts) },
    { path: 'docs/security.md', content: renderTemplate('security.md', securityParts) },
  ];
}
