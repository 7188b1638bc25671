/** What is said about the plan and the rollouts of a policy, in Chinese. The keys are the English sentences as the sources have them. */
export const planZh: Readonly<Record<string, string>> = {
  'was given too long ago': '给出的时间太久以前',
  'was given before this image waited, or before the policy was changed': '在该镜像等待批准之前或策略修改之前给出',
  'names a time in the future': '写的是将来的时间',
  'is that of who last changed the policy': '是最后修改策略的人给出的',
  'cannot count, because the policy does not say who last changed it': '不能计入，因为策略没有说明最后由谁修改',
  '; the approval of {0} {1}': '；{0} 的批准{1}',
  '{0} of {1} approvals{2}{3}{4}': '{1} 个批准中已有 {0} 个{2}',
  ', until {0}': '，截至 {0}',
  '{0}: {1} is set, and takes precedence over the field that the policy writes: remove it, or name it in fields':
    '{0}：设置了 {1}，它优先于策略写入的字段：请移除它，或在 fields 中写出它',
  'not an OCI repository': '不是 OCI 仓库',
  '{0} is a template: write there what it stands for': '{0} 是模板：请在那里写上它所代表的内容',
  '{0} holds a range or a name, in which the other tool would choose: write one version there':
    '{0} 中是范围或名称，会由另一个工具在其中选择：请在那里写上一个版本',
  'the URL of its {0} and {1} name no OCI repository': '它的 {0} 的 URL 和 {1} 不是 OCI 仓库',
  'HOST/PATH, without a scheme beside the name of a chart': 'HOST/PATH（有 chart 的名称时不带协议）',
  '{0} names no OCI repository, which is written as {1}: Git and Helm repositories announce no pushes':
    '{0} 中不是 OCI 仓库，应写成 {1}：Git 和 Helm 仓库不通知推送',
  '{0} is not {1}: others announce no pushes': '{0} 不是 {1}：其他类型不通知推送',
  'its {0} cannot be seen: it does not exist, or does not consent, as a target of another namespace must':
    '看不到它的 {0}：它不存在，或者没有同意（另一个命名空间中的目标必须同意）',
  'its {0} is not of the type oci: others announce no pushes': '它的 {0} 不是 oci 类型：其他类型不通知推送',
  '{0} is in another namespace': '{0} 在另一个命名空间',
  '{0} than the policy, and the configuration says crossNamespace: deny': '{0}，而配置为 crossNamespace: deny',
  'ask them to annotate it, or its Namespace, with {0}: "{1}"': '请他们为它或它的 Namespace 加上注解 {0}: "{1}"',
  '{0}, and either does not exist or its owners have not consented: {1}': '{0}，它不存在，或者它的所有者没有同意：{1}',
  '{0} ({1} by its digest)': '{0}（按摘要为 {1}）',
  '{0} (as {1}, on a newer base)': '{0}（即 {1}，基于更新的基础镜像）',
  'already runs {0}': '已运行 {0}',
  'already runs {0}, which ranks equal with {1}': '已运行 {0}，它与 {1} 同级',
  '{0} runs; the policy replaces only {1} by {2}': '正在运行 {0}；策略只把 {1} 换成 {2}',
  '"{0}" runs, which the policy does not select{1}: change the image by hand once, or the policy':
    '正在运行“{0}”，而策略不选择它{1}：请手动修改一次镜像，或修改策略',
  '{0} runs {1}, which {2}: if it is to be replaced, name it in containers, or write takeOver: true':
    '{0} 运行 {1}，它{2}：如果要替换它，请在 containers 中写出它，或设置 takeOver: true',
  'is of another track than {0}{1}': '与 {0} 属于不同的系列',
  ', that of {0}': '（{0} 的系列）',
  '{0} moved to {1}; the policy pins tags, so nothing changes': '{0} 移到了 {1}；策略只固定标签，因此没有变化',
  '{0} is older than {1}, which runs': '{0} 比正在运行的 {1} 旧',
  '{0} follows': '由 {0} 跟随',
  '{0} selects': '由 {0} 选择',
  'approve it with image-watcher approve {0}/{1}, or with the annotation {2}: {3}':
    '请用 image-watcher approve {0}/{1} 批准，或加上注解 {2}: {3}',
  '{0} waits for approval': '{0} 等待批准',
  '{0} waits for approval: approve it with image-watcher approve {1}/{2}, or with the annotation {3}: {4}':
    '{0} 等待批准：请用 image-watcher approve {1}/{2} 批准，或加上注解 {3}: {4}',
  '{0} waits for approval: {1}': '{0} 等待批准：{1}',
  'is not of the form TAG@sha256:…': '不是 TAG@sha256:… 的形式',
  'approves something else': '批准的是别的镜像',
  '{0} waits for approval; "{1}" {2}: {3}': '{0} 等待批准；“{1}”{2}：{3}',
  '{0} waits for approval; "{1}" {2}': '{0} 等待批准；“{1}”{2}',
  'approve it with image-watcher approve {0}/{1}, on the dashboard, or with an annotation {2}…':
    '请用 image-watcher approve {0}/{1}、在页面上，或用注解 {2}… 批准',
  '{0} waits for approval: {1}: {2}': '{0} 等待批准：{1}：{2}',
  '{0} from {1} to {2}': '{0} 从 {1} 到 {2}',
  'dry run: {0} would be changed: {1}': '试运行：{0} 会被修改：{1}',
  '{0} changed {1} from {2} to {3}': '{0} 已把 {1} 从 {2} 改为 {3}',
  somebody: '有人',
  '{0} is held: {1}. It is changed again when there is something newer than {2}, or when it is released: annotation {3}: "<time>"':
    '{0} 已保留：{1}。有比 {2} 更新的镜像，或被释放时，才会再次修改：注解 {3}: "<time>"',
  '{0} is held: {1}. It is changed again when there is something newer than {2}, or when it is released':
    '{0} 已保留：{1}。有比 {2} 更新的镜像，或被释放时，才会再次修改',
  '{0} is held: {1}. It is changed again when there is something newer than {2}, or when it is released with {3}':
    '{0} 已保留：{1}。有比 {2} 更新的镜像，或用 {3} 释放时，才会再次修改',
  '{0} is paused, so {1} waits until it is resumed: {2}': '{0} 已暂停，因此 {1} 等待它恢复：{2}',
  'set its field spec.paused to false': '把它的字段 spec.paused 设为 false',
  '{0} {1}. Push something newer': '{0} {1}。请推送更新的镜像',
  'was rolled back': '已被回滚',
  'is not newer than {0}, which was rolled back': '不比已回滚的 {0} 新',
  '{0}, or release it: annotation {1}: "<time>"': '{0}，或释放它：注解 {1}: "<time>"',
  '{0}, or release it': '{0}，或释放它',
  '{0}, or release it with {1}': '{0}，或用 {1} 释放它',
  '{0} was rolled back on {1}. Push something newer, or release it: annotation {2}: "<time>"':
    '{0} 已在 {1} 上回滚。请推送更新的镜像，或释放它：注解 {2}: "<time>"',
  '{0} was rolled back on {1}. Push something newer': '{0} 已在 {1} 上回滚。请推送更新的镜像',
  '{0}; released at {1}': '{0}；已于 {1} 释放',
  '{0} ("{1}" is no time such as 2026-01-31T12:00:00Z)': '{0}（“{1}”不是 2026-01-31T12:00:00Z 这样的时间）',
  '{0} of {1} was changed to {2} {3} times within an hour, and something changes it back: see who else does (another ImagePolicy?). Changed again at {4}':
    '{1} 的 {0} 在一小时内被改为 {2} {3} 次，又被改了回去：请查看还有谁在修改（另一个 ImagePolicy？）。将于 {4} 再次修改',
  'release it: annotation {0}: "<time>"': '释放它：注解 {0}: "<time>"',
  'release it': '释放它',
  'release it with {0}': '用 {0} 释放它',
  '{0} is tried again at {1} ({2} of {3}), because its rollout failed for another reason than the image: {4}. To try it now, {5}':
    '{0} 将于 {1} 再次尝试（第 {2} 次，共 {3} 次），因为它的滚动更新失败的原因不在镜像：{4}。要立即尝试，请{5}',
  '{0} failed {1} rollouts for another reason than the image, and is not tried again by itself: {2}. Mend that, then push a newer image, edit the policy, or':
    '{0} 的滚动更新因镜像以外的原因失败了 {1} 次，不会自动再次尝试：{2}。请先解决它，然后推送更新的镜像、修改策略，或',
  '{0} has put {1} back {2} times after it was changed to {3}: write the image where {4} reads it, let it ignore the field, or try once more with the annotation {5}: "<time>"':
    '{1} 改为 {3} 之后，{0} 已把它改回 {2} 次：请把镜像写到 {4} 读取的地方，让它忽略该字段，或用注解 {5}: "<time>" 再试一次',
  '{0} has put {1} back {2} times after it was changed to {3}: write the image where {4} reads it, let it ignore the field, or try once more':
    '{1} 改为 {3} 之后，{0} 已把它改回 {2} 次：请把镜像写到 {4} 读取的地方，让它忽略该字段，或再试一次',
  'runs {0}, which is what the cluster made of {1}': '正在运行 {0}，这是集群由 {1} 改成的',
  '{0}: {1}. The policy selects {2}: set select.semver.range, or, if {3} is right, release it: annotation {4}: "<time>"':
    '{0}：{1}。策略选择{2}：请设置 select.semver.range；如果 {3} 正确，请释放它：注解 {4}: "<time>"',
  '{0}: {1}. The policy selects {2}: set select.semver.range, or, if {3} is right, release it':
    '{0}：{1}。策略选择{2}：请设置 select.semver.range；如果 {3} 正确，请释放它',
  '{0} stays held, because it could not be read when its image and that of {1}, which runs, were created':
    '{0} 仍被保留，因为无法读取它的镜像和正在运行的 {1} 的创建时间',
  '{0} is far from {1}, which runs': '{0} 与正在运行的 {1} 相差很大',
  'the image of {0} was created on {1}, before that of {2} ({3}), which runs': '{0} 的镜像创建于 {1}，早于正在运行的 {2}（{3}）',
  '{0} is not rolled out further: {1}. Mend that, or push a better image': '{0} 不再继续滚动更新：{1}。请解决它，或推送更好的镜像',
  '{0} is not rolled out further: {1}. Push a better image, or release it': '{0} 不再继续滚动更新：{1}。请推送更好的镜像，或释放它',
  '{0} waits for the pause after the last wave: until {1}': '{0} 等待上一批之后的暂停结束：到 {1}',
  '{0} waits until these have rolled out: {1}': '{0} 等待以下工作负载完成滚动更新：{1}',
  '{0} is applied to {1} when the next window opens: {2}': '{0} 在下一个时间窗口开放时（{2}）应用到 {1}',
  '{0} of {1} rollouts failed': '{1} 个滚动更新中有 {0} 个失败',
  'the API server refused {0} of {1} changes': 'API server 拒绝了 {1} 个修改中的 {0} 个',
  '{0}, and {1}': '{0}，并且{1}',
  ' (and {0} more {1})': '（另有 {0} 个目标）',
  'and {0} more': '另有 {0} 个',
  'nothing to change': '没有要修改的内容',
  '{0}: {1} from {2} to {3}': '{0}：{1} 从 {2} 改为 {3}',
  'about to be changed': '即将修改',
  'nothing is checked or changed, because {0}': '不检查也不修改，因为{0}',
  'suspended: nothing is checked or changed until spec.suspend is false': '已暂停：在 spec.suspend 为 false 之前不检查也不修改',
  '; then it will not act before this is mended: {0}': '；此后，在解决以下问题之前不会有动作：{0}',
  '{0} runs {1}': '{0} 运行 {1}',
  '{0} waits until {1}{2}': '{0} 等待到 {1}',
  '{0} waits until {1}, {2}': '{0} 等待到 {1}，{2}',
  'what is selected': '所选择的内容',
  'no image of {0}': '不是该仓库的镜像：{0}',
  'no single version of the OCI artifact {0}': '不是该 OCI 制品的单一版本：{0}',
  'what {0} holds in {1} is {2}{3}': '{0} 的 {1} 中的内容{2}',
  '{0} ({1} holds a number: as one, 1.20 is 1.2; quote it)': '{0}（{1} 中是数字：作为数字，1.20 就是 1.2；请加引号）',
  '{0} has a pod template, whose containers are found by their image: remove fields': '{0} 有 Pod 模板，其容器按镜像查找：请移除 fields',
  '{0} has no {1}, and without it nobody knows whose tag is beside it: write the repository of the image there':
    '{0} 没有 {1}，因此无法得知旁边的标签属于谁：请在那里写上镜像的仓库',
  '{0}: {1} holds no text, so nobody knows from which registry the image is: write its host there, or remove it':
    '{0}：{1} 中不是文本，因此无法得知镜像来自哪个镜像仓库：请在那里写上主机名，或移除它',
  '{0} holds neither text nor a number: name the field that does': '{0} 中既不是文本也不是数字：请写出正确的字段',
  '{0} cannot be written, because there is no {1} to hold it: mend the path, or write the field once by hand':
    '无法写入 {0}，因为没有可以容纳它的 {1}：请更正路径，或手动写入该字段一次',
  '{0} selects {1} workloads, and a policy has at most {2}: give each part of them a policy of its own':
    '{0} 选中了 {1} 个工作负载，而一个策略最多 {2} 个：请为它们的每一部分各建一个策略',
  'is being deleted': '正在删除',
  'does not exist': '不存在',
  '{0} is being deleted': '{0} 正在删除',
  '{0} does not exist': '{0} 不存在',
  'no {0} in {1} matches {2}': '{1} 中没有与 {2} 匹配的 {0}',
  ' (those of a Deployment are changed through it: name the Deployment)': '（Deployment 的 ReplicaSet 通过它修改：请写 Deployment）',
  'no container': '没有容器',
  'no container {0}': '没有容器 {0}',
  ', and no image volume of it': '，也没有它的镜像卷',
  '{0} has {1} that runs {2}{3}': '{0} 中{1}运行 {2}',
  '{0}; its volume "{1}" holds it: to update it, write volumes: true': '{0}；它的卷“{1}”中有该镜像：要更新它，请设置 volumes: true',
  ': it has no pod template in spec.template, so say with fields where its image is':
    '：它在 spec.template 中没有 Pod 模板，请用 fields 说明镜像的位置',
  'rejected by annotation': '被注解拒绝',
  'rejected by {0}{1}': '被 {0} 拒绝',
  '{0} was {1}. Push something newer': '{0} {1}。请推送更新的镜像',
  '{0} failed its rollout and is not tried again: {1}. Push a better image': '{0} 滚动更新失败，不再尝试：{1}。请推送更好的镜像',
  'no reason is known': '原因未知',
  '{0} is not tried again on {1}, where its rollout failed: push a better image, or release it':
    '不在 {1} 上再次尝试 {0}，它在那里滚动更新失败：请推送更好的镜像，或释放它',
  '{0} runs, which the registry does not hold any more; it is kept, because {1} is older':
    '正在运行 {0}，而镜像仓库中已没有它；它会保留，因为 {1} 更旧',
  'the registry does not hold what runs any more, and nothing newer; it is kept, but a new pod may fail to pull it. Push it again, or change the image by hand: {0}':
    '镜像仓库中已没有正在运行的镜像，也没有更新的；它会保留，但新的 Pod 可能无法拉取它。请再次推送它，或手动修改镜像：{0}',
  '{0} runs already, and it is not known whether as {1}, as which it is announced; the policy pins tags, so nothing changes':
    '{0} 已经运行，但不知道运行的是否是所通知的 {1}；策略只固定标签，所以不改变任何内容',
  '{0} was pushed again: it was {1}, and is announced as {2}; the policy pins tags, so nothing changes':
    '{0} 被再次推送：原来是 {1}，现在通知为 {2}；策略只固定标签，因此没有变化',
  '{0}: {1} runs {2}': '{0}：{1} 运行 {2}',
  'each {0} of {1} that matches {2}': '{1} 中与 {2} 匹配的每个 {0}',
  'not compared yet with what the policy selects': '尚未与策略所选择的内容比较',
  'when it is as old as spec.minAge asks for': '届时它达到 spec.minAge 所要求的时长',
  'when the next window of the policy opens': '届时策略的下一个时间窗口开放',
  'because something changes it back each time: see who else does (another ImagePolicy?)':
    '因为每次都被改了回去：请查看还有谁在修改（另一个 ImagePolicy？）',
  'when its rollout is tried again: the last one failed for another reason than the image. "image-watcher release" tries it at once':
    '届时再次尝试它的滚动更新：上一次失败的原因不在镜像。“image-watcher release”会立即尝试',
  'when it is released': '届时它被释放',
  'or until the workloads before have rolled out (rollout.waves)': '或直到前面的工作负载完成滚动更新（rollout.waves）',
  'when the pause after the last wave is over (rollout.waves)': '届时上一批之后的暂停结束（rollout.waves）',
};
