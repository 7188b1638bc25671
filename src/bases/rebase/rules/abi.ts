import { type Rule, shown } from './rule.ts';

/** Labels by which a base promises what programs can rely on. */
const promises = /^io\.buildpacks\.(?:stack\.id|base\.distro\.(?:name|version))$|[./]abi$/;
const rebasable = 'io.buildpacks.rebasable';

/** What programs of the application are linked against. */
export const abi: Rule = {
  id: 'AbiChanged',
  about:
    'A label that names what programs rely on has another value (`io.buildpacks.stack.id`, `io.buildpacks.base.distro.*`, and labels that end in `.abi` or `/abi`), or the application has `io.buildpacks.rebasable=false`.',
  check({ application, oldBase, newBase }) {
    if (application.config.config?.Labels?.[rebasable] === 'false') return `the application has the label ${rebasable}=false`;
    const [before = {}, after = {}] = [oldBase, newBase].map(({ config }) => config.config?.Labels ?? {});
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].find(
      (name) => promises.test(name) && before[name] !== after[name],
    );
    if (changed === undefined) return undefined;
    return `the label ${shown(changed)} of the base changes from ${shown(before[changed])} to ${shown(after[changed])}`;
  },
};
