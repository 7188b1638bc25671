/** Assessments for tests: name only what matters. */
import type { Assessment, ComparedImage } from '../../../src/core/model/assessment.ts';
import type { ContainerState } from '../../../src/core/model/policy-status.ts';
import { digestOf } from './samples.ts';

/** Advisories in short: `CVE-1 Critical`. */
export function vulnerabilities(...texts: readonly string[]): ComparedImage['fixes'] {
  return texts.map((text) => {
    const [id = '', severity = 'Unknown'] = text.split(' ');
    return { id, severity: severity as ComparedImage['fixes'][number]['severity'] };
  });
}

export const running = 'registry.example.com/shop/web:1.4.1';

/** The assessment of 1.4.2, which would replace 1.4.1. */
export function assessmentOf(compared: Partial<ComparedImage> = {}, more: Partial<Assessment> = {}): Assessment {
  return {
    tag: '1.4.2',
    digest: digestOf('b'),
    at: '2026-11-29T12:00:00Z',
    by: 'trivy on 2026-11-29T11:00:00Z (the attestation by key cosign.pub of Secret shop/keys)',
    replaces: [{ image: running, digest: digestOf('a'), fixes: vulnerabilities('CVE-2026-1 Critical'), adds: [], ...compared }],
    ...more,
  };
}

/** A container of Deployment shop/web, which runs 1.4.1. */
export function containerOf(more: Partial<ContainerState> = {}): ContainerState {
  return { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web', image: running, state: 'Kept', ...more };
}
