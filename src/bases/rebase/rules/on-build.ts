import { isSame } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

/** Compares the ONBUILD instructions of the bases. They ran when the application was built, and a rebase does not run them. */
export const onBuild: Rule = {
  id: 'OnBuildChanged',
  about: 'The base has other `ONBUILD` instructions, which only a build runs.',
  check({ oldBase, newBase }) {
    const [before, after] = [oldBase, newBase].map(({ config }) => config.config?.OnBuild);
    if (isSame(before, after)) return undefined;
    return `the ONBUILD instructions of the base change from ${shown(before)} to ${shown(after)}`;
  },
};
