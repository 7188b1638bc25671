import type { TargetKind } from '../target-kind.ts';

/** Deployments of apps/v1. */
export const deployment: TargetKind = {
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  resource: 'deployments',
  podSpecPath: ['spec', 'template', 'spec'],
};
