import { isInherited } from '../merge-config.ts';
import { isSame } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

/** Compares the folders in which containers start. */
export const workingDirectory: Rule = {
  id: 'WorkingDirectoryChanged',
  about: 'The base starts in another folder, which the application takes over.',
  check({ application, oldBase, newBase }) {
    const [own, before, after] = [application, oldBase, newBase].map(({ config }) => config.config?.WorkingDir);
    if (!isInherited(own, before) || isSame(before, after)) return undefined;
    return `the working directory of the base changes from ${shown(before)} to ${shown(after)}`;
  },
};
