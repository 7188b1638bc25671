/** What is said about images that are changed together, and about what is restarted for a ConfigMap, in Chinese. */
export const alongsideZh: Readonly<Record<string, string>> = {
  '{0} with {1}': '{0} 与 {1}',
  '{0} was there a moment ago': '{0} 刚才还在',
  '{0} has come without {1}, which did not follow until {2}': '{0} 到来时没有 {1}，到 {2} 仍未到来',
  '{0} ({1} does not say from which commit it was built)': '{0}（{1} 没有说明由哪个提交构建）',
  '{0} of commit {1}': '提交 {1} 的 {0}',
  '{0} (the image does not list what belongs to it in {1})': '{0}（镜像没有在 {1} 中列出与它属于一组的镜像）',
  '{0} (the list of the image in {1} has more than {2} entries, or {3} characters)':
    '{0}（镜像在 {1} 中的清单超过 {2} 项，或超过 {3} 个字符）',
  '{0} (entry {1} of the list of the image in {2} is no image name)': '{0}（镜像在 {2} 中的清单的第 {1} 项不是镜像名称）',
  '{0} (the list of the image in {1} does not name it)': '{0}（镜像在 {1} 中的清单没有写出它）',
  '{0} (the list of the image in {1} names it without a tag or a digest)': '{0}（镜像在 {1} 中的清单写出它时没有标签或摘要）',
  '{0} (the list of the image in {1} names it twice, with different tags or digests)':
    '{0}（镜像在 {1} 中的清单两次写出它，标签或摘要不同）',
  ' (its tag does not point to that digest: move it there, or write update.pin: Digest)':
    '（它的标签没有指向该摘要：请把标签移过去，或写 update.pin: Digest）',
  '{0} waits for {1}, which the registry does not hold; it is passed over at {2}': '{0} 等待镜像仓库中还没有的 {1}；到 {2} 就跳过它',
  'the registry does not hold {0} any more': '镜像仓库中已没有 {0}',
  'then it is passed over, unless its companions are pushed before': '届时会跳过它，除非此前推送了与它一起更新的镜像',
  'the companions of {0} are not known yet: they are asked for before anything is changed':
    '还不知道与 {0} 一起更新的镜像：在修改任何内容之前会先查询它们',
  'what belongs to {0} is not known yet': '还不知道哪些镜像与 {0} 属于一组',
  '{0} runs {1}, which is newer than {2}: nothing is set back alongside': '{0} 正在运行比 {2} 新的 {1}：一起更新的镜像不会改回旧的',
  '{0} belongs to the selected image; it is changed with the next one': '{0} 与选中的镜像属于一组；它会与下一个镜像一起修改',
  '{0} has {1} containers of companions, and at most {2} are changed together':
    '{0} 有 {1} 个容器运行一起更新的镜像，而最多同时修改 {2} 个',
  '{0} has no container {1} that runs {2}': '{0} 没有运行 {2} 的容器 {1}',
  '{0} changes {1} of {2} as well: take it out of one of the two': '{0} 也修改 {2} 的 {1}：请从两者之一中移除它',
  'another ImagePolicy': '另一个 ImagePolicy',
  '"{0}" of {1} is no companion of the policy': '{1} 的“{0}”不属于策略中一起更新的镜像',
  'a tag that moves does not show which images belong together: write alongside.match: SameRevision or SameDigestList, or select another way than by select.digest':
    '会移动的标签不能表明哪些镜像属于一组：请写 alongside.match: SameRevision 或 SameDigestList，或不用 select.digest 选择',
  'the image is named already: write each image once': '该镜像已经写出：每个镜像请只写一次',
  'only containers are changed together: remove fields, or alongside': '只有容器会一起修改：请移除 fields，或移除 alongside',
  'a tag that replaces another has no companions: remove alongside': '代替另一个标签的标签没有一起更新的镜像：请移除 alongside',

  '{0} is not restarted: {1}': '没有重启 {0}：{1}',
  'the restarts are stopped': '重启已停止',
  '{0} has not been restarted yet': '{0} 还没有重启',
  '{0} is not watched: none of the workloads that it restarts can be seen': '不跟踪 {0}：看不到它所重启的任何工作负载',
  'a ConfigMap is named: write name instead, for the operator allows single ones':
    'ConfigMap 须按名称写出：请改写 name，因为管理员允许的是单个 ConfigMap',
  'a ConfigMap has no containers: say with fields where its image is': 'ConfigMap 没有容器：请用 fields 说明镜像的位置',
};
