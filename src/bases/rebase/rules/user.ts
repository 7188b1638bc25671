import { isInherited, isSame } from '../merge-config.ts';
import { type Rule, shown } from './rule.ts';

/** The user that containers run as. */
export const user: Rule = {
  id: 'UserChanged',
  about: 'The base runs as another user, which the application takes over.',
  check({ application, oldBase, newBase }) {
    const [own, before, after] = [application, oldBase, newBase].map(({ config }) => config.config?.User);
    if (!isInherited(own, before) || isSame(before, after)) return undefined;
    return `the user of the base changes from ${shown(before)} to ${shown(after)}`;
  },
};
