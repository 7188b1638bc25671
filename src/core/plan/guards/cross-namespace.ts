import { unseenProblem } from '../consent.ts';
import type { Guard } from './guard.ts';

/** Refuses targets in other namespaces if the configuration denies them, even if their owners consent. */
export const crossNamespace: Guard = {
  id: 'cross-namespace',
  bindsRollback: true,
  check({ target }, { policy, crossNamespace: rule }) {
    const problem = rule === 'deny' ? unseenProblem(target, policy, rule) : undefined;
    return problem && { kind: 'refused', ...problem };
  },
};
