import { kind } from './group.ts';
import * as v1 from './v1.ts';
import * as v1alpha1 from './v1alpha1.ts';

const metadata = { name: 'image-watcher-conversion-probe', namespace: 'default' };

/** A policy of each version with which the conversion is tried out; none of them is ever stored. */
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
