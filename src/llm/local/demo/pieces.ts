/**
 * Ordinary word pieces, so that system prompts and files do not need one token per byte (about three characters per token in English and
 * code). Ordered as byte-pair merging found the pieces: each joins two earlier pieces or characters. `▁` is a space. Scripts do not need
 * them.
 */
export const wordPieces = String.raw`
▁▁ ▁▁▁▁ in th on re st er ▁a en or es ti al ▁th ro de se ▁f at ing ▁{ ▁= ▁c le ▁t is \n un it ▁the ▁w tion ▁" an ": ed
); ▁n ▁o ex con ent ar ▁p ▁' ▁▁▁▁▁▁▁▁ ▁s ▁( ▁b str ▁re pe ur ol ▁m ch am ode string ad const om ge ▁an lo ▁to ype ▁in
ct id ort ce rom he if ut urn ▁} ▁[ im ▁* // as ▁is ext port ▁▁▁▁▁▁ all ath ri turn ue il sa ow ▁of ts ## tt ption ▁|
um ith li ul ▁string to per ** ror ▁and ▁d ect () type ', ▁T ve ▁be la ▁v .. ame com ject ate ▁st ▁it si run ps ot ck
ter ", us ▁as em roper sage ction htt bject (' ly /** ties ire roperties ▁from ▁un ew ile :// ▁{" path ▁h ▁on return
ver ▁*/ == qu https cri '; ▁=> ▁for js ke ▁wh ▁con end ra ▁A ▁this ▁e ), ▁l od ): vent alse def ait unction error code
ig ]( di ▁with essage ▁or ▁P odel ], ▁se pt ore and ▁false ub import The ▁that ap tr ork ken ase export ab ber ▁type
umber ▁=== ). wait quire eng ine po }, ▁run ▁- text ▁ch use Re ole ▁? ▁g ▁S op object ers pa ise el escri ined own ="
▁new yn ength ptions et defined ') pro atch ▁call ▁pro ir tional int romise Er escription ▁de ents ▁not ple
▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁ ▁C for res require ync In up ff addi alue ▁text description ▁& ces this ▁al Error ▁undefined ▁z out
{" ▁return "} ind required row ▁number "], te ult additional properties ▁[" Properties old additionalProperties "}},
▁by ▁M log ▁read ▁are ation ▁y art ▁+ fa ▁W ▁Promise ▁&& gith length github ▁function )) ds name ink ▁ma >< que ▁com
... tive able low ill ▁ex (); ign tent ou ▁model ▁tr To ▁: ?: ▁The ({ uff put unk ▁at ma sw ▁ar ach try ded St ▁sh
▁work tool [] ▁error quest ▁L ▁! Of ack key pen ream dex kens ▁no oid ▁can sh ta Run scode idth sion vi ▁one Call
uffer read ▁end oc function Id call pace ▁use -- ▁res ▁▁▁▁▁ await ▁path En get ▁file ▁true ht its LM '); ges pm (( tes
tim ▁|| node file ic hat age ▁lo ▁message ON mand par ▁par ll ▁li only point ▁B ▁N ▁To ### ▁you ze ▁name ren ata ▁will
ray gum ther space ▁event event ist ant rit ▁if gm message ▁?? ▁when oun lace oole oolean swer act ▁await ▁/ col
▁value gs chem ▁O let ay ange ]; )); alk ▁its vid ../ ▁out one thing red work irst ▁tool nown ▁> ▁}; De ▁< pl cript
ost ▁ne npm ': of ▁J our cre ome ▁what lob ated ref ason ▁!== ./ atus form cess (), time ▁F fo ass fter ody ▁}); chema
▁Re ▁Tool Event content ▁inst pri ▁U open ust sole ply model ▁id ▁Run Ms gn ▁. val ▁do guments ▁he vate upport }); ull
▁ad face ance ▁readonly ▁I ▁options ▁us ▁... ▁// min older End ure ▁set ▁'../ known ▁inter ▁vscode Text private fs
fore ▁any ser ames jo vider rent ctive options cal console ▁le ▁fa defa map ion ▁▁▁▁▁▁▁▁▁ oul ould ▁'./ ▁object ble
ary br ish rc ▁en fe cl ▁▁▁▁▁▁▁▁▁▁▁▁ yp ▁line ▁first ctor ▁key lay lient async void ▁width SON ▁▁▁ ▁code ▁boolean
Object ?. test inking ▁open value ▁ro json ></ sed ep ▁(! ip line ample av set ▁calls max usage indow der ▁async ▁ab
ark est ape tern owpath Tokens rite wn pon >; ght }; ▁ask ▁const Schema default ning here throw ▁fil org his ▁has ▁all
bu inish ▁unknown ec mo aract os from very ▁interface ▁throw ize we ▁support LMError ▁ap ci Res ▁H ▁void ▁col )}
▁stream ▁cre view Ch ignal ▁r ▁() ines les ▁bytes Ar ▁option ush imits (). </ ▁was ▁}), ▁E IN tting lice ▁content edit
ues ong ▁so essa ▁only ytes essages ▁D base urrent imit ache ▁index tail ▁me come ▁G PI ify ▁Buffer ich ords ▁may no
▁own ener attern ok (): ays ild ▁data ▁start ▁before ▁fol ▁val ved ang endpoint ▁time led ard stru index clu Path ▁log
▁after ED ▁then gent EN start place ▁command io ▁dis hase ignore tle ven Message gment ▁spe ▁▁▁▁▁▁▁▁▁▁ iel ats ain
▁same Type vscode peration slice ave ix ▁other ment fil push etch sp git urnal ▁** ▁answer Ke empt ount ml heck token
▁ver ▁LLMError #### img back und body ama ▁href ▁arguments title Con ▁-- input ry ak ▁which ▁ke ute ▁ext LLM ER number
▁without ww ress rompt ative File case OR ten ord ft ▁charact ▁per tocol ide ▁we sor size ▁_ sing ash ults ▁dif
▁require ▁Set link Buffer sign ▁mod ▁JSON ule ▁ref toolCall md til fig load ator ▁glob ![ ▁gi ▁provider anel join
▁default ▁Sto ▁}, request ▁add not ▁match ▁but http sub ▁runs rl ries ▁cont lass Array Url add ▁list ick ▁edit
▁workspace iz andle ▁create ▁API signal gments ▁version ▁la ▁[]; ▁j ([ sist thod ▁go Info Key ms odes ▁Math command
esc che ▁node show sv ▁test ne ▁folder write ▁every ]) ld ▁conver svg sty ▁check user pend ▁more Defa dis ▁retry lags
▁reply iled ▁catch ▁does ▁files ▁than Stream ▁result yst ▁}) ▁where apter ▁signal ▁refuse ▁pre ▁some ▁head ▁fs
▁current ▁place ▁src entry be gin Tool ner sation ▁V ▁pack check LI ▁chunk ity iew new ause lic ocum ▁used the ▁po
▁Error ystem tring plete conds ▁real pose ▁change workspace ell ▁In ▁your ▁each ▁null irector side ▁over answer ▁using
right ates amed option api ▁stop State ▁there ▁ser url Reason round sistant ots ▁whole ▁dec imple crets ▁What ▁want
ource runId ocument Options foo so At reg upd parse AI ence ies ▁now ake protocol ctions igh laces are ▁bu (() proval
ownload gh gu ">< width ▁ali lease wh zz now ▁nothing ▁color lock hus baseUrl ▁@ ▁pers ▁events ▁person ▁turn ▁process
orm ally ▁names ▁class ail '). context This If edi ask vel ▁tokens Se ves ▁have trim color args ▁never ▁u ▁pattern
▁next ini has quot ▁token engine ▁+= An */ \" cent '), ▁install thinking messages tails son bort olve ▁body question
co ▁su true catch ree lat ▁St ▁Chat ponse Default orhus gr ▁like status emit ound ▁exp ▁spec head ▁fail "></ ▁them
fast data ▁ToolCall ▁lines ▁follow pre ▁el ▁shown tools []; Result og loc ▁If SI pack ▁instance pp (" ▁ag ied rows
ttings OL ▁they ▁wait anges pletion ision ▁mark ;& ▁tar ension typ ules ive ▁values ous ▁request var flow mb any
process lose ▁state ▁usage journal ory ▁paths ▁would ote lete Script ▁off Ex iter ▁pa ▁store ocs ▁else ▁k umm bug
stringify Sto bel ▁order }) ▁kept String ▁att ▁''; ]. ._ root RE Com You ▁This reak Un tal false stop stream ▁array
reason active ameter typeof clud ield raft ▁editor irectory wi cle )]( ans osen "> => ▁into rap iteral ▁input chunk
▁title oi lan pts illi sind ▁Node resorhus sindresorhus chat tain boolean bytes ▁asked ▁exist Endpoint ▁align ▁again
wo Ro ▁sa ▁sty ▁provi ▁status html ▁also tial ]); cont tokens ▁writ filter ymb ymbol ▁length local ▁i comm reError bg
>, ▁root ▁example ]: vis stall ures --- issing ST nb ose structor ▁last nbsp arts ▁esc ▁conversation ▁'') ▁size inue
calls ▁thinking ▁module ▁method ▁codes seconds [' lif raw ▁max ▁user ▁about ▁characters /. store retry ▁reason //=> RU
▁output ▁server inishReason "; ▁back plit ie uth ai Model arguments mark quoted with ▁being ead ends package ML bad
cod ▁show ▁endpoint cur ▁item ▁allow window Bytes docs gre ite llama emo [], ▁>= minal ▁panel Out ▁hunk styles td stri
Tim ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁ Ids ▁limit ▁words ▁operation entries utf ▁fold JSON ++ fer ▁should ▁Se lative
optional wik AD web ▁old Sh (/ tice ](# ▁base Request ages segment ▁beh orkspace empty ]! shown client segments
literal ▁StoreError ▁Wh ▁loop ground ▁specif ▁ms ached ▁parse Context ▁context ▁tools ▁need folder Chunk ▁package
light olved cludes icode ▁returns gument change ▁limits cord ▁given ummary utom www ▁cannot ▁begin ▁ac ...( Client
strip For ()) tem Start ▁cache ▁failed eps ▁up ▁link events inner ▁cal UT ted ▁once ▁done gress oice IT AN arn Open
ready ▁count [![ ▁two NO Name glob phase cause gram uthor TO .# role spe ▁models oft agent erminal ][ Usage ▁while
find array cret ▁client alloc debug ▁{@ ias ▁long ▁complete resolve On ros what ▁toolCall ween ings ▁local AT ▁Th ▁/><
▁script ields completion ants lain inter ▁Open provider replace app ▁Map ▁parameter ▁provided dent turns state indows
exec center ighlight rou ▁[... ▁must Cache ▁folded ▁prompt ▁flags ▁changes illiseconds ME ji ▁sp utm Width ▁parts
names ▁Abort LE loat uri ulti ▁https sync ▁told refix ▁'' andom ▁Call feren strict includes {% %} ars ▁min ▁sub
waiting main ight script safe posed Limit ▁Endpoint Time {%- ▁-%} ▁been ▁An ragment provals ▁empty sc sel item ike
abort gine host Signal Limits atedAt Engine ster ▁▁▁▁▁▁▁ Value ▁pair rough Turn ▁import ▁their ▁make Index ▁lock pth
err dir ustom avat ▁supported ▁says ▁system ▁contain ▁LRU ense list ▁most ccess ypes quence medi ases Uri ered leMs
▁called TT valid ▁write ▁results ▁depend ▁question ▁indent by ial olor nect ▁Ap other ENT ▁places SE ▁[' next ▁bet
▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁ ▁comm ▁level Like ▁between env cli ▁way ▁outcome ▁ignore cpp coding ese ale att tra Sync Status
▁instanceof delete label TOOL Timeout ▁sent ▁({ ▁hand ▁character ▁handle dapter emoji ual ()); ▁It ournal close
▁extends Dis ')); regex TTP ove ▁Con anged util ▁config assistant Po ▁rep Read List ▁Ex fetch ▁entry Bright gg ari
imum lta colle first iome prompt ailable ▁directory constructor ▁LRUCache With ▁alt ▁Un pattern oth some ▁running
▁found Wh arch ▁too iff andid hether User update ▁'', ▁reject ▁role ERR structions ▁Install ▁escape ▁Path ▁part ▁runId
create After ▁messages ▁target Root self OM Up ▁form []): ocus formance Size dispose ▁argument ▁x ful ▁Usage ▁RunEvent
toolCallId View Document ▁settings ty ▁No ▁stored highlight ▁{} Code most den sol etad ▁get ▁For reply ▁here ways yml
▁tests ▁well roots ycle ++) ▁Workspace progress solute etadata go live igin Input ▁arch unknown ▁hel lines stats ▁One
▁many We ati bar ▁pas escript ▁Wire ▁remo config guf inition ▁journal __ RL cond ▁named ▁details TI win real stat
romis ular ▁through vailable gest mod Token output ▁AbortSignal opencolle opencollective ▁reg mver nodejs llm npmjs
▁agent Point ced Node lib dub plate ▁ToolError ▁stats zzz ▁Json latform cision author interface dubzzz '] }. ock ▁answ
▁diff ▁ErrorInfo ▁wanted total romises bl ▁im umn aiting uration ▁imple Log toString div tab parts All ampl ▁Event
Outcome amples ▁strings over infer ron "); ints Change native break commits lift icros icrosoft ▁wire Hel match ▁maint
current ▁look ▁disk ▁chunks details ▁how ending ments ▁npm layMs ▁isObject arning ▁callback Answer ▁instead ▁works
▁exact ▁typeof ▁window words ▁take ▁resolved ▁Windows ▁itself ~~ ▁Com ▁Ch ▁Model ▁shape ▁address secrets ▁failure
▁style ▁red ▁Token etwork ▁<= Finish andard ▁something Command ▁specified ▁column ▁objects ible StreamChunk ▁another
travis ▁platform }} VA dev ▁mode ▁provid play tries LID release ▁terminal VALID ▁(( top dist ##### sable ▁Throws
master /) px MA ess aton anch ▁see ▁promise ▁sync abled .'); ▁native ▁contents githubuser Json Color utomaton
githubusercontent pan ped ▁rest buffer |--- MIT ▁because ng ast ued Wire ▁still worker timeout style workflow ▁chosen
lank ▁passed ling mit arg ired core ascript src ▁gener Phase download ▁PromiseLike typescript INVALID avascript ▁R wen
.', ename pair ))) support ▁env ▁under ▁left ▁pick ▁retryable ▁block ▁both ▁performance gate ▁AN ▁within Length
▁active orld ▁missing ▁spinner ▁non tar sum ever rowser ▁app ethod ▁success Adapter ▁available ▁TokenUsage TE ▁repe
undefined Names ▁phase while ▁following ▁multi idleMs ither runs ▁proper part readonly brary ▁keys ORE ▁until cope
▁decision ▁ChatRequest ▁already execute ference semver STORE ating pati else ▁schema ▁could ipass where ensor andidate
DE LO {{ post ▁returned appen avi ▁fast ava ▁inclu izer ▁secrets ▁response Store ▁symbol ▁whether avaScript su ▁ta ▁'<
▁tem ▁worker ▁separ ▁Use ponsor before ▁attempt openai *. ▁ge ▁working ▁started ▁view named ▁such vious Note ▁said
▁Type opy off commands ▁begins strictObject Hello (- ttp ▁case version done usted ▁fetch toolCalls ▁document emory
finishReason ▁Float ▁-}} {{- alle eta allow ▁ending plat after models outcome build relative ▁Record platform do ss
iron limits ▁source ▁means utils ▁URL dit sets lare scri pool ▁pass ▁known operation edia ▁rules continue ▁encoding Th
▁K Fa AR ▁fin but ▁cut Case ▁find ▁sign olic param Def ▁Read ▁setting angu lement ▁turns connect Web ▁happen then
olders ression readable Chat ▁sample count ized ▁versions ▁headers ▁written >( isF ▁pe ▁[] ')) patch >(); ocab lling
alked ▁none blem ▁even bash ▁break READ ▁archive ac ses sec ▁errors orage alform iffs ▁finish charact ▁throws enci
less ▁keep wiki Shape OUT ▁depth ERROR rawFinish ▁RunStore alformed encies Pro cha race ▁short ook Operation icense
▁changed ▁maximum ▁always ▁answered Base ounts ▁inside ▁know ATH HTTP delta microsoft Bu tis man ged mall ilt ▁patch
▁space ▁Number ▁De blob ▁asks ▁How Words gener ▁were ▁[![ ▁posi draft wikip wikipedia JS ingle iles tect ▁As ▁export
▁Message ainers ▁everything ▁items Summary ▁behavi EX ▁cle ▁chat ▁batch CON ▁added inary ferent ▁step sues ▁goes
▁entries ▁types ins ero ▁did prove ffect ulary ▁Res handle reasoning webview spec ▁above ▁Unicode ▁second tokenizer
ocabulary tions lag Err nameOf ▁endOf ▁host ▁exec lama ▁just source ▁build Abort ▁marker ▁draft chosen ▁continue split
grep ▁packages ▁choice ▁secret ▁Journal ▁JsonObject Waiting branch qwen ▁library ▁Http Errno WaitingUser pk YA kes Par
cts ▁equ ▁gr ▁Object formation ▁full ▁Status ▁these ▁columns patible allel olicy ▁single YAML It UN hel rip tter ▁hold
▁FC ▁optional system headers ieces updatedAt ecycle ▁ChatStreamChunk ▁environ amaged "/ '], (... ended ▁buffer ▁{};
LLMError Cont lash AIL notice ▁sequence javascript ▁different ]{ ude ▁bro ▁unit ▁Ar errors ▁Code ▁byte plan ▁demo
▁filled ario licit level ▁plain Turns ▁format focus ▁implement ▁either character PATH ;" **: ▁tab result ▁below image
▁encode ▁parsed step arest flat ▁cases Failed ^[ alf ding lect tty ▁qu ▁made ggm ▁Options ▁say ature GIN ▁valign
▁valid tensor versation ▁colors imension Returns ▁pairs ▁absolute queued sponsor ggml SP ▁% }/ |> ution .'; ▁def
▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁ indent ▁Min bable every defaults ▁Stop ▁release ▁engine OpenAI ▁vari ▁providers ▁multiple
▁previous "/>< xy Git ince ▁git detail ▁timeout ▁extra ▁cause attempt COM idelift ▁display pkg FAIL FAILED pi :** Int
olded ▁anything cache ▁protocol ▁web ▁inner See ▁exists ▁relative ▁program ▁OpenAI ▁random Listener atic ▁points
▁property lifecycle bj wd ger extra Calls ponent ▁url yargs ▁emit ansform ▁links ▁custom )! hex uce velo ▁dra roll
▁args Events ▁abort ▁newest Handle ▁seconds ▁download extension ▁prefix iginal ▁memory compatible roller US ▁am isD
▁([ ride wire ▁[], ▁ends ▁'-- schema ▁fix ormal ▁task ▁resolve ▁label ▁starts green diff ▁declare ▁nearest Al FF az
ift ▁tra Reg ▁project fill API ▁adapter ▁toolCallId ▁emoji ▁small ia gi No By my ]/ tif rol cat ▁tre ▁our ▁send net
indexOf TED pick ▁segments ▁waiting istory ▁split TML ▁behind prefix ongest blk ▁RunLog ▁'<| scription Folders ▁built
Files ▁innermost cr Be .' Bar ▁clo ▁ear resent values ▁child Flags ▁free ▁levels GE
`
  .trim()
  .split(/\s+/);
