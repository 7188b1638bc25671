import { isInherited } from '../merge-config.ts';
import { isSame } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

const fields = { StopSignal: 'stop signal', Healthcheck: 'health check' } as const;

/** Compares how containers are stopped and checked. */
export const lifecycle: Rule = {
  id: 'LifecycleChanged',
  about: 'The base has another stop signal or health check, which the application takes over.',
  check({ application, oldBase, newBase }) {
    const [own = {}, before = {}, after = {}] = [application, oldBase, newBase].map(({ config }) => config.config ?? {});
    for (const name of ['StopSignal', 'Healthcheck'] as const) {
      if (isInherited(own[name], before[name]) && !isSame(before[name], after[name]))
        return `the ${fields[name]} of the base changes from ${shown(before[name])} to ${shown(after[name])}`;
    }
    return undefined;
  },
};
