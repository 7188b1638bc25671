/** The Chinese texts of BaseImagePolicy, by the English ones; the texts that it shares with ImagePolicy are in zh-CN.ts. */
const duration = '时长以 h、m 和 s 为单位，最长 8784h，例如 "90s"、"1h30m"。';
const source = '"$source" 表示使用镜像的标签（label）或注解 org.opencontainers.image.source。';

export const chineseBaseImages: Readonly<Record<string, string>> = {
  // Samples
  'A patched and signed Java base image reaches every application that is built on it: images of shop are rebased, signed and rolled out in waves, canaries first. All others are rebuilt by their CI systems, each in the repository that its label org.opencontainers.image.source names, and what has none is reported. Rebasing needs permissions.rebase: true in the values of the chart. Workloads in other namespaces need the consent of their owners.':
    '打过补丁的 Java 基础镜像到达每个基于它构建的应用：shop 的镜像经过变基、签名，并分批滚动更新，先更新金丝雀。其他镜像由各自的 CI 系统重新构建，代码仓库由镜像的标签（label）org.opencontainers.image.source 指出；没有这个标签的只报告。变基需要 Helm Chart 的值 permissions.rebase: true。其他命名空间中的工作负载需要其所有者同意。',
  'Only reports which images of this namespace are built on an older base, and since when: nothing is changed, and no CI system is called.':
    '只报告此命名空间中哪些镜像基于旧的基础镜像构建，以及从什么时候开始：不修改任何内容，也不调用 CI 系统。',
  // spec
  'Which base to watch, whose images may be built on it, and what happens to images on an older base.':
    '监视哪个基础镜像、哪些工作负载的镜像可能基于它构建，以及如何处理基于旧基础镜像的镜像。',
  "The workloads whose images are examined; by default all of the policy's namespace, and all of other namespaces whose owners consent.":
    '要检查其镜像的工作负载；默认为策略所在命名空间的全部工作负载，以及其他命名空间中所有者同意的全部工作负载。',
  "Selects namespaces by their labels; by default the policy's own. Others need the consent of their owners.":
    '按标签（label）选择命名空间；默认是策略自己的命名空间。其他命名空间需要其所有者同意。',
  'Labels that the Namespace must have, each with its value.': 'Namespace 必须具有的标签（label）及其值。',
  'Selects workloads by their labels; by default all.': '按标签（label）选择工作负载；默认全部。',
  'The kinds of workloads; by default Deployment, StatefulSet, DaemonSet, CronJob.':
    '工作负载的类型；默认是 Deployment、StatefulSet、DaemonSet、CronJob。',
  'What happens to an image that is behind: the first action that applies to it. Without one, it is only reported.':
    '如何处理落后的镜像：采用第一个适用的操作。没有适用的操作时，只报告。',
  "Replaces the base's layers of the image in the registry, pushes the result under a new tag, and rolls it out in waves.":
    '在镜像仓库中替换镜像中属于基础镜像的层，以新标签推送结果，并分批滚动更新。',
  'The images that the action applies to, by their repositories.': '操作适用的镜像，按镜像名称写出。',
  'The images that the action applies to, by their repositories; by default all.': '操作适用的镜像，按镜像名称写出；默认是所有镜像。',
  'The tag of the rebased image; by default "$tag-base.$date".': '变基后镜像的标签；默认是 "$tag-base.$date"。',
  'Rules that are not checked: changes of the base that this policy accepts.': '不检查的规则：此策略接受的基础镜像变化。',
  "A Secret of type kubernetes.io/dockerconfigjson, in the namespace of the policy, that may push to the repositories; used for nothing else. By default image-watcher's own credentials, where its configuration permits that (consents[].push).":
    '类型为 kubernetes.io/dockerconfigjson 的 Secret，位于策略所在的命名空间，可以向这些镜像仓库推送；不用于其他任何用途。默认使用 image-watcher 自己的凭据，前提是它的配置允许（consents[].push）。',
  'write an interval of at least 1m: a base is polled once a minute at most': '请写至少 1m 的间隔：基础镜像每分钟最多轮询一次',
  'What a base must satisfy before anything is done for it.': '在为某个基础镜像做任何事之前，它必须满足的条件。',
  'Signs rebased images as cosign does.': '像 cosign 那样为变基后的镜像签名。',
  'The Secret with the private key in PEM form.': '保存 PEM 格式私钥的 Secret。',
  'Which repositories may be rebuilt, where images name them ($source); by default all on the host of the CI system.':
    '当镜像自己指明源代码仓库（$source）时，可以重新构建哪些仓库；默认为该 CI 系统主机上的所有仓库。',
  'Requests a rebuild from the CI system, once for each base and source: exactly one of github, gitlab, gitea, tekton, jenkins, webhook.':
    '请 CI 系统重新构建，每个基础镜像和源代码仓库一次：github、gitlab、gitea、tekton、jenkins、webhook 中恰好一个。',
  'write exactly one of github, gitlab, gitea, tekton, jenkins, webhook':
    '请在 github、gitlab、gitea、tekton、jenkins、webhook 中恰好写一个',
  'How long the rebuilt image may take before the status says that it is overdue; by default 2h. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `重新构建的镜像最多可以用多久，超过之后状态会显示它已逾期；默认 2h。${duration}`,
  'Calls GitHub Actions.': '调用 GitHub Actions。',
  'write either event, for repository_dispatch, or workflow and ref, for workflow_dispatch':
    '使用 repository_dispatch 时请写 event，使用 workflow_dispatch 时请写 workflow 和 ref',
  'a workflow is started for a branch or tag: write workflow and ref together': '工作流针对一个分支或标签启动：workflow 和 ref 要一起写',
  'The repository, as owner/name. "$source" takes it from the label or annotation org.opencontainers.image.source of the image.': `代码仓库，写成 owner/name。${source}`,
  'The event type of a repository_dispatch.': 'repository_dispatch 的事件类型。',
  'The file name of a workflow with workflow_dispatch.': '带有 workflow_dispatch 的工作流的文件名。',
  'The branch or tag to build.': '要构建的分支或标签。',
  'The API of GitHub Enterprise Server; by default https://api.github.com.':
    'GitHub Enterprise Server 的 API；默认是 https://api.github.com。',
  'The Secret with the token.': '保存令牌的 Secret。',
  'Starts a pipeline of GitLab by a trigger token.': '用触发令牌启动 GitLab 的流水线。',
  'The project, by its path or number. "$source" takes it from the label or annotation org.opencontainers.image.source of the image.': `项目的路径或编号。${source}`,
  'The address of GitLab; by default https://gitlab.com.': 'GitLab 的地址；默认是 https://gitlab.com。',
  'The Secret with the pipeline trigger token.': '保存流水线触发令牌的 Secret。',
  'Calls Gitea or Forgejo Actions.': '调用 Gitea 或 Forgejo Actions。',
  'The address of Gitea or Forgejo.': 'Gitea 或 Forgejo 的地址。',
  'Calls an EventListener of Tekton.': '调用 Tekton 的 EventListener。',
  'The address of the EventListener.': 'EventListener 的地址。',
  'The Secret with which the request is signed.': '用于为请求签名的 Secret。',
  'Starts a job of Jenkins with parameters.': '启动 Jenkins 的带参数的任务。',
  'The address of Jenkins.': 'Jenkins 的地址。',
  'The path of the job: "folder/name".': '任务的路径："folder/name"。',
  'The Secret with USER:TOKEN.': '保存 USER:TOKEN 的 Secret。',
  'Sends a signed CloudEvent.': '发送带签名的 CloudEvent。',
  'The address.': '地址。',
  'The Secret with the signing key of standard webhooks.': '保存 Standard Webhooks 签名密钥的 Secret。',
  'Restarts workloads that run a mutable tag with imagePullPolicy: Always when the digest of the tag has changed.':
    '当标签的摘要改变时，重启以 imagePullPolicy: Always 运行可变标签的工作负载。',
  'Only reports the image, whatever it is.': '只报告镜像，无论是哪个镜像。',
  'In which order workloads are changed.': '按什么顺序修改工作负载。',
  'How many workloads roll out at the same time; by default 5.': '同时滚动更新多少个工作负载；默认 5 个。',
  'Selects the workloads that are changed first; the others wait until they have rolled out.':
    '选择最先修改的工作负载；其他工作负载等它们滚动更新完成。',
  'How long to wait between two waves; by default 10m. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `两批之间等待多久；默认 10m。${duration}`,
  'After so many failed rollouts the image is rejected, and nothing more is changed to it; by default 1.':
    '滚动更新失败达到这个数量后，该镜像被拒绝，不再有工作负载改用它；默认 1。',
  // status
  'The generation of the policy that was last reconciled.': '上次调和时策略的 generation。',
  'The base that applications should be built on.': '应用应当基于的基础镜像。',
  'The tag.': '标签。',
  'Its digest.': '它的摘要。',
  'When the registry was last asked for the base.': '上次向镜像仓库查询基础镜像的时间。',
  'A base that is not used yet.': '尚未使用的基础镜像。',
  'The tag of the base that waits.': '等待中的基础镜像的标签。',
  'When it was first seen.': '首次发现它的时间。',
  'Counts of images, each digest once.': '镜像的数量，每个摘要只计一次。',
  'The images that the selected workloads run, and the bases in between through which some of them are reached.':
    '所选工作负载运行的镜像，以及其中一些镜像所经过的中间基础镜像。',
  'What happens to an application that is built on this base through another one with a BaseImagePolicy of its own. Follow: that base is brought forward first, and its own policy then brings the application. Skip: the application is brought forward directly.':
    '如果应用通过另一个有自己的 BaseImagePolicy 的基础镜像构建在此基础镜像上，应如何处理。Follow：先更新那个中间基础镜像，再由它自己的策略更新应用。Skip：直接更新应用。',
  'Those that are built on the selected base.': '基于选中的基础镜像构建的镜像。',
  'Those that are built on an older version of the base, or under whose tag pods still run such an image.':
    '基于基础镜像的较旧版本构建的镜像，或其标签下仍有 Pod 运行此类镜像的镜像。',
  'Those that are built on a version of another line.': '基于另一条版本线的版本构建的镜像。',
  'What is known about the base.': '对基础镜像的了解。',
  'The versions of the base that images are compared with.': '与镜像比较的基础镜像版本数。',
  'The tags and versions of the base that are not compared: they are still to be read, cannot be read, do not show their layers, or are too many.':
    '未参与比较的基础镜像标签和版本：尚未读取、无法读取、不显示其层，或数量过多。',
  'Tags of the same repository that count as older versions of the base, although select does not admit them. Applications on other versions are of another line and stay where they are.':
    '同一仓库中虽不被 select 允许、但算作基础镜像较旧版本的标签。基于其他版本的应用属于另一条版本线，保持不变。',
  'Those whose base could not be recognized.': '无法识别其基础镜像的镜像。',
  'Those that are built on something else.': '基于其他内容构建的镜像。',
  'Of those behind: for these, nothing more is done until somebody acts, because the rebase was refused, the rollout failed or the rebuild did not come.':
    '落后的镜像中，因变基被拒绝、发布失败或重新构建未到而需要有人处理、在此之前不再做任何事的镜像。',
  'Of those behind: those whose rebuild has not come in time.': '落后的镜像中，重建未按时到来的镜像。',
  'Of those behind: those that are only reported, because no other action applies.': '落后的镜像中，因没有其他动作适用而只作报告的镜像。',
  'The earliest time since which an image is behind.': '镜像开始落后的最早时间。',
  'The first 20 images that are built on the base or may be, those that are behind first.':
    '基于（或可能基于）该基础镜像构建的前 20 个镜像，落后的排在前面。',
  'The repository and tag that the workloads run.': '工作负载运行的镜像名称和标签。',
  'The digest that was examined.': '检查过的摘要。',
  'The base that it is built on: tag@digest, or one of them.': '它基于的基础镜像：tag@digest，或其中之一。',
  'How the base was recognized. Origin: it is that of the image that this one was rebased from.':
    '如何识别出基础镜像。Origin：它是此镜像变基之前的那个镜像的基础镜像。',
  'Current: built on the selected base. Behind: on an older one, and nothing is done about it, or not yet. OtherLine: on a version that the selection does not mean, such as 17.0.9 or 21.0.1-alpine where 21.0.2 is selected; nothing is done about it. Unknown: the base could not be recognized. Requested: a rebuild was requested. RebuildOverdue: it has not come in time. Rebased: the image is rebased and waits for its wave. Updating, Updated: its workloads are rolling out, or have. Failed: a rollout failed. Refused: the image cannot be rebased.':
    'Current：基于选中的基础镜像构建。Behind：基于较旧的基础镜像，不做任何处理，或尚未处理。OtherLine：基于选择所不指的版本，例如选择 21.0.2 时的 17.0.9 或 21.0.1-alpine；不做任何处理。Unknown：无法识别其基础镜像。Requested：已请求重新构建。RebuildOverdue：没有按时完成。Rebased：镜像已变基，等待轮到它的批次。Updating、Updated：它的工作负载正在滚动更新，或已经完成。Failed：滚动更新失败。Refused：镜像无法变基。',
  'What is done about it.': '如何处理它。',
  'When the first newer base was selected.': '首次选中更新的基础镜像的时间。',
  'When the state was reached.': '进入该状态的时间。',
  'How many workloads run it; 0 for a base in between, on which images are built.':
    '有多少个工作负载运行它；对于其上构建了镜像的中间基础镜像为 0。',
  'One of them: "Deployment shop/web".': '其中一个："Deployment shop/web"。',
  'The tag of the rebased image.': '变基后镜像的标签。',
  'The waves in which rebased images are rolled out.': '变基后的镜像滚动更新的批次。',
  'The digest of the base that is rolled out.': '正在滚动更新的基础镜像的摘要。',
  'Workloads that wait for their wave.': '等待轮到其批次的工作负载。',
  'The wave that began last. It is written before anything is changed, so that no other one begins meanwhile.':
    '最近开始的批次。在改变任何东西之前写入，因此其间不会开始另一个批次。',
  'The workloads that are changed or restarted in it.': '该批次中被更改或重启的工作负载。',
  'Workloads that are rolling out.': '正在滚动更新的工作负载。',
  'Workloads that have rolled out.': '已完成滚动更新的工作负载。',
  'Workloads whose rollout failed.': '滚动更新失败的工作负载。',
  'When the last rollout was complete.': '上一次滚动更新完成的时间。',
  'Why no further wave begins.': '为什么不再开始下一批。',
  'The first 20 rebuilds that were requested for the base, those that are not accepted first.':
    '为该基础镜像请求的前 20 次重新构建，尚未被接受的在前。',
  'The digest of the base that the rebuild was requested for.': '请求重新构建时的基础镜像的摘要。',
  'The source that was to be rebuilt.': '要重新构建的源代码仓库。',
  'When the rebuild was requested, or is to be.': '请求或将要请求重新构建的时间。',
  'Whether the CI system has accepted the request.': 'CI 系统是否已接受请求。',
  'Why it has not.': '没有接受的原因。',
  'The digest of the base.': '基础镜像的摘要。',
  'When.': '时间。',
  'Its tag.': '它的标签。',
  'Why.': '原因。',
  'The last 10 bases, the latest first.': '最近 10 个基础镜像，最新的在前。',
  'The tag of the base.': '基础镜像的标签。',
  'When the policy selected it.': '策略选择它的时间。',
  'Sources whose rebuild was requested.': '已请求重新构建的源代码仓库的数量。',
  'Workloads that were brought to it.': '已更新到它的工作负载的数量。',
  'The base that waits for approval.': '等待批准的基础镜像。',
};
