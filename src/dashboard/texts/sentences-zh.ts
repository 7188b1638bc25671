/** The sentences of explanations and of frequent messages in Chinese. The service says them in English alone, so they are known by their form. Pure. */

type Rule = readonly [form: RegExp, inChinese: (...parts: string[]) => string];

/** Longer texts are not read. */
const maxLength = 2_000;
/** A sentence may end with another one, and that one with a third. */
const maxDepth = 3;

/** A sentence in Chinese; undefined for one of another form. Names, versions and what pods report stay as they are. */
export function sentenceInChinese(text: string, depth = 0): string | undefined {
  if (text.length > maxLength || depth > maxDepth) return undefined;
  const known = fixed.get(text);
  if (known !== undefined) return known;
  const inside = (part: string) => sentenceInChinese(part, depth + 1) ?? part;
  for (const [form, inChinese] of rulesWith(inside)) {
    const parts = form.exec(text);
    if (parts !== null) return inChinese(...parts.slice(1));
  }
  return undefined;
}

const fixed: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'the policy can be used, and is not suspended': '策略可用，且未暂停',
    'the spec was changed, and has not been reconciled since': '规约已修改，此后尚未调谐',
    'its signatures are verified before it is applied': '应用之前会验证其签名',
    'suspended: nothing is checked or changed until spec.suspend is false': '已暂停：在 spec.suspend 为 false 之前不检查也不修改',
    'nothing to change': '没有要修改的内容',
    none: '无',
    'always open': '始终开放',
    'not watched': '不跟踪',
    'the highest stable version': '最高的稳定版本',
    'the highest version, prereleases included': '最高版本（包括预发布版本）',
    'the alphabetically last tag': '字母顺序最后的标签',
    'the numerically greatest tag': '数值最大的标签',
    'the image that was created last': '最后创建的镜像',
    'no target runs an image of the policy': '没有目标运行该策略的镜像',
    'its image was created later than the running one, which only the registry knows':
      '其镜像的创建时间晚于正在运行的镜像（只有镜像仓库知道）',
    'its digest is another one than that of the running image: add it to --push as @sha256:…':
      '其摘要与正在运行的镜像不同：请在镜像后加上 @sha256:…',
  }),
);

function rulesWith(inside: (part: string) => string): readonly Rule[] {
  return [
    [/^the namespace ([a-z0-9-]+) is selected$/, (name) => `命名空间 ${name} 已被选中`],
    [/^since (\S+): (.+)$/s, (time, what) => `自 ${time} 起：${inside(what)}`],
    [/^(\S+) is selected: (.+)$/s, (image, what) => `已选择 ${image}：${inside(what)}`],
    [/^(\S+) is taken as pushed: (.+)$/s, (image, what) => `视 ${image} 为已推送：${inside(what)}`],
    [/^(\S+) changes something only if (.+)$/s, (image, what) => `${image} 仅在以下情况下有效果：${inside(what)}`],
    [/^a push of (\S+) changes something only if (.+)$/s, (image, what) => `推送 ${image} 仅在以下情况下有效果：${inside(what)}`],
    [/^a push of (\S+) would change nothing: (.+)$/s, (image, what) => `推送 ${image} 不会修改任何内容：${inside(what)}`],
    [/^a push of (\S+) would change (\d+) containers?$/, (image, count) => `推送 ${image} 会修改 ${count} 个容器`],
    [
      /^a push of (\S+) would change (\d+) of (\d+) containers?$/,
      (image, count, all) => `推送 ${image} 会修改 ${all} 个容器中的 ${count} 个`,
    ],
    [
      /^a push of (\S+) would change nothing until its digest has been known for (\w+) \(minAge\)$/,
      (image, time) => `在其摘要已知 ${time}（minAge）之前，推送 ${image} 不会修改任何内容`,
    ],
    [/^([a-z0-9-]+\/[a-z0-9.-]+) selects (.+): (\S+)$/s, (policy, what, image) => `${policy} 选择${inside(what)}：${image}`],
    [/^the highest version in "([^"]*)"$/, (range) => `"${range}" 中的最高版本`],
    [/^the highest version in "([^"]*)", prereleases included$/, (range) => `"${range}" 中的最高版本（包括预发布版本）`],
    [/^the digest of the tag "([^"]*)"$/, (tag) => `标签 "${tag}" 的摘要`],
    [/^the tag "([^"]*)" in place of "([^"]*)"$/, (to, from) => `以标签 "${to}" 代替 "${from}"`],
    [/^every (\w+)$/, (time) => `每 ${time}`],
    [/^watched for (\w+), onFailure: (\w+)$/, (time, action) => `跟踪 ${time}，onFailure: ${action}`],
    [
      /^watched for (\w+), onFailure: (\w+), in waves of (\d+)$/,
      (time, action, count) => `跟踪 ${time}，onFailure: ${action}，每波 ${count} 个`,
    ],
    [/^(\w+ \S+) is there$/, (workload) => `${workload} 存在`],
    [/^(\S+) stays at (\S+): (.+)$/s, (container, image, what) => `${container} 保持 ${image}：${inside(what)}`],
    [/^(\S+) would be changed from (\S+) to ([^\s,]+)$/, (container, from, to) => `${container} 将从 ${from} 改为 ${to}`],
    [
      /^(\S+) would be changed from (\S+) to ([^\s,]+), but (.+)$/s,
      (container, from, to, what) => `${container} 将从 ${from} 改为 ${to}，但 ${inside(what)}`,
    ],
    [/^already runs (\S+)$/, (tag) => `已运行 ${tag}`],
    [/^(\S+) already runs (\S+)$/, (container, tag) => `${container} 已运行 ${tag}`],
    [/^(\S+) is older than (\S+), which runs$/, (tag, running) => `${tag} 比正在运行的 ${running} 旧`],
    [/^(\S+) is far from (\S+), which runs$/, (tag, running) => `${tag} 与正在运行的 ${running} 相差很大`],
    [/^(\S+) is pending until (\S+)$/, (tag, time) => `${tag} 等待到 ${time}`],
    [/^(\w+): (\S+) is pending until (\S+)$/, (age, tag, time) => `${age}：${tag} 等待到 ${time}`],
    [
      /^(\S+) is applied to (\w+ \S+) when the next window opens: (\S+)$/,
      (tag, workload, time) => `${tag} 在下一个时间窗口开放时（${time}）应用到 ${workload}`,
    ],
    [/^the rollout of (\S+) failed: (.+)$/s, (image, what) => `${image} 发布失败：${inside(what)}`],
    [/^rolled back: (\S+) failed$/, (image) => `已回滚：${image} 失败`],
    [/^(\w+ \S+): (\d+) of (\d+) updated and available$/, (workload, count, all) => `${workload}：${all} 个中的 ${count} 个已更新并可用`],
    [/^(\S+) waits until these have rolled out: (.+)$/s, (tag, workloads) => `${tag} 等待以下工作负载发布完成：${workloads}`],
    [/^(\S+) does not exist$/, (what) => `${what} 不存在`],
  ];
}
