/** Plans which CustomResourceDefinition to apply, given the installed one and the request. */
import { kind } from '../service/resources/group.ts';
import type { InstalledDefinition } from '../service/resources/kinds.ts';
import * as v1 from '../service/resources/v1.ts';
import { customResourceDefinition, type Conversion } from './definition.ts';
import * as v1alpha1 from './v1alpha1.ts';

/** The changes that the user requests. What is absent stays as it is installed. */
export interface CrdRequest {
  readonly conversion?: Conversion | undefined;
  /** The storage version; v1 by default. */
  readonly storage?: 'v1' | 'v1alpha1';
  /** Whether to serve v1alpha1 even if it was retired, or never served. */
  readonly serveV1alpha1?: boolean;
  readonly v1Only?: boolean;
}

/**
 * The definition to apply. Unless requested otherwise, a retired v1alpha1 stays retired, a definition with v1 alone stays so, and an installed webhook stays,
 * which the manifest does not contain. Throws an Error that says what to do if v1alpha1 would be removed although it is in use.
 */
export function planCrd(existing: InstalledDefinition | undefined, request: CrdRequest) {
  const installed = existing?.spec.versions.find(({ name }) => name === v1alpha1.version);
  if (request.v1Only) {
    refuseWhileNeeded(existing);
    return customResourceDefinition({ v1Only: true });
  }
  const isRetired = installed?.served === false && !request.serveV1alpha1 && request.storage !== v1alpha1.version;
  return customResourceDefinition({
    v1Only: isV1Only(existing) && !asksForV1alpha1(request),
    conversion: request.conversion,
    storage: request.storage ?? v1.version,
    unserved: isRetired ? [v1alpha1.version] : [],
  });
}

/** Whether the definition would serve two versions without a webhook, so that the request must name one. */
export function lacksConversion(existing: InstalledDefinition | undefined, request: CrdRequest): boolean {
  if (request.v1Only || request.conversion !== undefined) return false;
  if (isV1Only(existing) && !asksForV1alpha1(request)) return false;
  return existing?.spec.conversion?.strategy !== 'Webhook';
}

function isV1Only(existing: InstalledDefinition | undefined): boolean {
  return existing !== undefined && existing.spec.versions.every(({ name }) => name === v1.version);
}

function asksForV1alpha1({ conversion, storage, serveV1alpha1 }: CrdRequest): boolean {
  return conversion !== undefined || storage === v1alpha1.version || serveV1alpha1 === true;
}

function refuseWhileNeeded(existing: InstalledDefinition | undefined): void {
  if (existing?.status?.storedVersions?.includes(v1alpha1.version)) {
    throw new Error('policies may still be stored as v1alpha1: run "crd apply" with a conversion webhook and "crd migrate" first');
  }
  if (existing?.spec.versions.some(({ name, served }) => name === v1alpha1.version && served !== false)) {
    throw new Error('v1alpha1 is still served: run "crd migrate --retire v1alpha1" first');
  }
}

const metadata = { name: 'image-watcher-conversion-probe', namespace: 'default' };

/** Policies in each version to test the conversion webhook. They are never stored. */
export const conversionSamples = {
  [v1.version]: {
    apiVersion: v1.apiVersion,
    kind,
    metadata,
    spec: { image: 'example.com/probe', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'probe' }], suspend: true },
  },
  [v1alpha1.version]: {
    apiVersion: v1alpha1.apiVersion,
    kind,
    metadata,
    spec: {
      repository: 'example.com/probe',
      tagPolicy: { strategy: 'SemVer' },
      updateTarget: { kind: 'Deployment', name: 'probe', namespace: 'default' },
    },
  },
} as const;
