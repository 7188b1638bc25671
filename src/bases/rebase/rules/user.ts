import { isInherited } from '../merge-config.ts';
import { isSame } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

/** Compares the users that containers run as. */
export const user: Rule = {
  id: 'UserChanged',
  about: 'The base runs as another user, which the application takes over. No user, `root` and `0` are the same.',
  check({ application, oldBase, newBase }) {
    const [own, before, after] = [application, oldBase, newBase].map(({ config }) => config.config?.User);
    if (!isInherited(own, before) || isSame(named(before), named(after))) return undefined;
    return `the user of the base changes from ${shown(before)} to ${shown(after)}`;
  },
};

/** The user, without the names of root. */
function named(user: unknown): unknown {
  return user === 'root' || user === '0' || user === 'root:root' || user === '0:0' ? '' : user;
}
