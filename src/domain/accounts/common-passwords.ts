let known: ReadonlySet<string> | undefined

/**
 * The passwords that are tried first everywhere, in lower case. Only those of at least eight bytes: shorter ones are
 * refused anyway. What public analyses of leaked passwords list again and again.
 */
export function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(LIST.trim().split(/\s+/))
  return known
}

const LIST = `
01234567 012345678 0123456789 01020304 10203040 0987654321 098765432 09876543 11112222 11223344 1122334455 112233445566
11235813 12121212 12123434 12131415 12312312 123123123 123123123123 12341234 123412341234 12344321 1234512345
12345678 123456780 123456781 123456788 123456789 1234567890 12345678900 123456789012 12345678901 12345678910
123456789123 1234567891 1234567892 123456789a 123456789abc 123456789q 123456789z 12345678a 12345678q 1234567a 1234567q
1234567z 123456aa 123456ab 123456abc 123456qwerty 123456qq 12345abc 12345abcd 12345qwert 12345qwe 1234abcd 1234qwer
1234asdf 123321123 123321123321 123454321 12345654321 123654789 123698745 1236987450 123789456 123987456 123abc123
123abcde 123qwe123 123qwe123qwe 123qweasd 123qweasdzxc 123qwerty 123password 13131313 131313131 13579246 1357924680
135792468 1357913579 13792468 14141414 14725836 147258369 1472583690 147852369 1478523690 14789632 147896325 1478963250
159159159 159263487 159357159 159357456 1597532486 159753159 159753456 159753852 16161616 17171717 18181818 18273645
19191919 19821982 19831983 19841984 19851985 19861986 19871987 19881988 19891989 19901990 19911991 19921992 19931993
19941994 19951995 19961996 19971997 19981998 19991999 20002000 20012001 20022002 1a2b3c4d 1a2b3c4d5e 1q1q1q1q 1q2w3e4r
1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz1qaz 1qaz2wsx 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw2 1qaz@wsx !qaz2wsx
!qaz@wsx 1password 1princess 1sunshine 1iloveyou 20202020 21212121 22334455 23232323 23456789 234567890 24681012
246813579 24682468 25252525 25802580 258258258 258456258 26262626 27272727 28282828 29292929 30303030 31313131 31415926
314159265 3141592654 31415927 32323232 321321321 32165498 321654987 33445566 369258147 36925814 369369369 40404040
41414141 42424242 43214321 45454545 456123789 456456456 456789123 45678912 4815162342 50505050 51515151 52525252
54545454 54321543 5432154321 55667788 56565656 56785678 58585858 60606060 62626262 654321654321 65432178
65656565 67676767 686868686 68686868 69696969 70707070 71717171 72727272 73737373 741852963 7418529630 74108520
74747474 741258963 75757575 76543210 77778888 78787878 78945612 789456123 7894561230 789789789 789987789 80808080
82828282 84848484 85858585 85208520 852456852 852852852 86868686 87654321 876543210 8765432109 87878787 88889999
89898989 90909090 91919191 92929292 93939393 95959595 963852741 96385274 96969696 98765432 987654321 9876543210
98769876 987987987 98989898 99998888 a1234567 a12345678 a123456789 a1a1a1a1 a1b2c3d4 a1b2c3d4e5 a1s2d3f4 a1s2d3f4g5
aa123456 aa12345678 aaa111222 aaaaaaa1 aaaa1111 aabbccdd abababab abc12345 abc123456 abc1234567 abc12345678 abc123456789
abc123abc abc123abc123 abcabcabc abcd1234 abcd12345 abcd123456 abcd4321 abcdabcd abcde123 abcde12345 abcdef12 abcdef123
abcdef123456 abcdefg1 abcdefg123 abcdefgh abcdefghi abcdefghij abcdefghijk abcdefghijkl access14 admin123 admin1234
admin12345 admin123456 adminadmin adminadmin123 administrator administrator1 adminpass admin@123 admin@1234 adrienne
alejandra alejandro alexalex alexande alexander alexander1 alexandra alexandre alexandria alexandru allison1 altitude
amanda01 america1 american anastasia andrea123 andreea1 andrew01 andromeda angel123 angelica angelika angelina angelina1
angeline anthony1 anthony7 anything apple123 applepie arsenal1 arsenal123 asas1212 asasasas asd123asd asd123456
asdasd123 asdasdas asdasdasd asdf1234 asdf12345 asdf123456 asdfasdf asdfasdf1 asdffdsa asdfghjk asdfghjkl asdfghjkl1
asdfghjkl123 asdfghjkl; asdfjkl; asdfqwer asdfqwerty asdfzxcv asdqwe123 asdzxc123 ashley12 assassin astonvilla
atlantis australia azerty12 azerty123 azertyui azertyuiop babygirl babygirl1 babyblue backspace bailey12 baller23
barbara1 barcelona barcelona1 baseball baseball1 baseball123 basketball basketball1 batman123 battlefield bearbear
beatrice beatriz1 beautiful beautiful1 belgrade benfica1 benjamin benjamin1 bernardo billabong billybob birthday
blackcat blackjack blackops blessed1 blink182 blizzard bluebird bluebell blueberry bluemoon bluesky1 bonjour1 boomboom
brandon1 brandon123 bradley1 brasil123 brasilia brianna1 brittany brittany1 brooklyn brooklyn1 brownie1 bubblegum
bubbles1 bulldog1 bulldogs buster01 buster12 butterfly butterfly1 buttercup butthead california californ calvin12
cambiami camaro69 cameron1 campbell canada12 candy123 caonima123 caroline carolina carolina1 catherine challenger
champion champions change123 change_me changeit changeme changeme1 changeme123 changethis charles1 charlie1 charlie12
charlie123 charlotte charlton cheche12 cheese12 cheesecake chelsea1 chelsea123 chelseafc cherokee chester1 chevelle
chicago1 chicken1 children chocolate chocolate1 chrisbrown christian christian1 christina christine christmas
christopher cinderella claudia1 clemente cleopatra cleveland clifford cocacola cocacola1 coconut1 coffee123 college1
colorado columbia computer computer1 computer123 concrete consuelo controle coolcool cooldude corvette counterstrike
courtney courtney1 cowboys1 crazy123 creative cristian cristina cristiano cristiano7 crystal1 daddy123 dalejr88
dallas22 danidani daniel01 daniel12 daniel123 daniela1 danielle danielle1 darkness darkstar darthvader deadpool
december default1 default123 deftones delpiero delldell diablo123 diamond1 diamonds dickhead digital1 dolphin1
dolphins dominic1 dominick dominique donald123 doraemon douglas1 dragon01 dragon12 dragon123 dragonball dragonfly
dreamer1 drowssap drummer1 dumbledore ecuador1 edward123 einstein eintracht eleanor1 elizabeth elizabeth1 elephant
emanuel1 emmanuel enterprise england1 eriksson erica123 estrella estrellita everton1 evolution excalibur explorer
facebook facebook1 facebook123 faithful falcons1 familia1 family123 fantastic fantasia fashion1 february felicidad
fenerbahce fernanda fernandes fernando fernando1 ferrari1 ficken123 firebird firefire firefly1 fireman1 fishing1
florence florida1 flower123 football football1 football10 football11 football12 football123 football2 football7
forever1 forever21 fountain francesca francesco francis1 francisco franklin freddie1 frederic freedom1 freedom123
freckles freestyle freeuser friend123 friends1 friends4ever friendship ff123456 fuckface fuckoff1 fuckthis fuckyou1
fuckyou123 fuckyou2 fuckyou! fuck_you galatasaray galaxy123 gabriel1 gabriela gabriele gangster gangsta1 garfield
garfield1 gateway1 george123 geronimo getmoney giovanna giovanni gizmodo1 gladiator goldfish goldberg godzilla
godislove google123 googlegoogle gonzalez goodluck gracie01 graduate greatest greenday greenday1 greenbay greatday
grandma1 grandpa1 griffin1 gsxr1000 guardian guest123 guitar12 guitar123 guinness gwapo123 hallo123 hallo1234
hallohallo halloween hamburger hamilton hannah01 hannover96 hardcore hardrock harley01 harrypotter harry123 hahaha123
hahahaha hawaii50 heather1 heaven123 hello123 hello1234 hello12345 hello123456 hellohello hellokitty hellohell helloworld
herewego hercules hernandez highland highschool hockey12 hockey123 holidays homer123 honda123 honeybee hongkong
hooters1 horizon1 hotdog123 hotmail1 hotmail123 hottie123 houston1 hunter01 hunter12 hunter123 icecream icecream1
iceman12 icehouse iforget1 iforgot1 iiiiiiii iloveboys ilovegod ilovegod1 ilovehim ilovejesus iloveme1 iloveme2 iloveme!
ilovemom ilovemymom iloveyou iloveyou1 iloveyou12 iloveyou123 iloveyou2 iloveyou3 iloveyou! iloveu123 iloveyou143
imissyou immanuel imperial infinity inferno1 informatica ingeniero insecure inter1908 internet internet1 ironman1
ironmaiden isabella isabelle isabella1 istanbul j0rdan23 jackass1 jackie12 jackson1 jackson5 jackson123 jacob123
jamaica1 james007 james123 january1 jasmine1 jason123 javier123 jeanette jeffrey1 jennifer jennifer1 jeremiah jermaine
jessica1 jessica123 jesucristo jesus123 jesus777 jesuschrist jesusislord jesussaves jonathan jonathan1 jordan01
jordan12 jordan123 jordan23 jordan45 jose1234 joseph123 josephine joshua01 joshua12 joshua123 juggalo1 julianna
juliette june1234 juventus juventus1 kamikaze karina123 katherine katerina kathleen kawasaki kayleigh keepout1
kennedy1 kenneth1 kimberly kimberly1 kingkong kirsten1 kissmyass kittycat kittykat knicks33 knight123 kristina kristine
krystal1 labrador lacrosse ladybug1 lakers24 lalalala lalala123 landrover laura123 lauren12 lauren123 lavender leonardo
letmein1 letmein12 letmein123 letmein2 letmein! letmeinnow liberty1 lightning lincoln1 linkinpark liverpool liverpool1
liverpool123 lollipop lollollol lol12345 lol123456 london123 loser123 lovelove lovelove1 lovely123 loveme123 lovers123
loveyou1 loveyou2 love1234 love12345 love123456 lover123 lucky123 luckydog lucky777 mackenzie madeline madison1
madmax12 madrid123 magandako magdalena majestic mallorca manager1 manchester manchester1 manunited manutd123 marathon
marcello marcelo1 margaret margarita mariana1 marianne mariajose marie123 marijuana marina123 mariposa marlboro
marlboro1 marseille marshall martin123 martina1 martinez maserati master01 master12 master123 matrix123 matthew1
matthew123 maverick maximus1 maxwell1 mckenzie mechanic melanie1 melissa1 melissa123 memorial mercedes mercedes1
mercury1 merlin123 metallica metallica1 mexico123 miami305 michael1 michael12 michael123 michael2 michaela michelle
michelle1 michigan microsoft midnight midnight1 mickeymouse midnight12 millionaire milwaukee minecraft minecraft1
minecraft123 miranda1 mississippi mohamed1 mohammed mollydog monalisa monica123 monkey01 monkey12 monkey123 monkey1234
monkeys1 monopoly monster1 monster123 montana1 montreal moonlight morgan123 moneymaker money123 mortgage motherfucker
motorola motocross motorbike mountain muhammad mushroom mustang1 mustang69 mylove123 mynameis myspace1 myspace123
mypassword mypassword1 mypass123 naruto123 narutouzumaki natalia1 natasha1 nathalie nathaniel nebraska necromancer
nevermind newcastle newlife1 newpass1 newpass123 newpassword newyork1 newyork123 nicholas nicholas1 nicole01 nicole12
nicole123 nightmare nightwish nintendo nintendo64 nirvana1 nopassword nothing1 november number1! oblivion octavian
october1 october10 odessa123 olivia123 onelove1 operator1 orange12 orange123 orlando1 overlord oxford123 p@$$w0rd
p@$$word p@55w0rd p@ssw0rd p@ssw0rd! p@ssw0rd1 p@ssw0rd123 p@ssw0rd12 p@ssword p@ssword1 p@ssword123 p4ssw0rd p4ssword
packers1 pa$$w0rd pa$$word pa55w0rd pa55word pakistan pakistan1 pakistan123 palermo1 paloma123 pancakes panasonic
pandora1 panther1 panthers paradise paradise1 paramore passpass passpass1 passport pass@123 pass@1234 pass@word1
passw0rd passw0rd! passw0rd1 passw0rd12 passw0rd123 password password! password!1 password0 password00 password01
password02 password1 password1! password10 password11 password12 password123 password123! password1234 password12345
password123456 password13 password14 password2 password20 password2000 password21 password22 password23 password3
password4 password5 password6 password69 password7 password77 password8 password88 password9 password99 password@1
password@123 password. passwordpassword passwort passwort1 passwort123 pass1234 pass12345 pass123456 patience
patricia patricia1 patrick1 patrick123 paulinho peaches1 peanut12 peanut123 peekaboo penelope penguin1 pepper12
pepper123 pepsi123 petersen phantom1 philadelphia phillies phoenix1 phoenix123 pikachu1 pikachu123 pineapple pinkfloyd
pink1234 pippo123 pirates1 platinum playboy1 playboy123 playgirl playstation pleasure please123 poiuytre poiuytrewq
pokemon1 pokemon12 pokemon123 polina123 polopolo poohbear poohbear1 pookie12 popcorn1 popeye123 popopopo porcupine
portugal portugal1 poseidon precious precious1 predator presario princesa princesa1 princess princess1 princess12
princess123 princess2 princess7 princesse privacy1 professor property prospect protocol punkrock punkrock1 pussycat
pussy123 pyramid1 q1q1q1q1 q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 q12345678 q123456789 q2w3e4r5 qawsedrf qaz123456 qaz123wsx
qazqazqaz qazwsx12 qazwsx123 qazwsxed qazwsxedc qazwsxedc1 qazwsxedc123 qazwsxedcrfv qazxsw21 qazxswedc qq123456
qq1234567 qq123456789 qqww1122 qqqq1111 qqqwww123 quicksilver qwaszx12 qwaszx123 qwaszxqw qwe123123 qwe123456 qwe123asd
qwe123qwe qwe123rty qweasd12 qweasd123 qweasdqwe qweasdzx qweasdzxc qweasdzxc1 qweasdzxc123 qweqwe123 qweqweqwe
qwer1234 qwer12345 qwer123456 qwer4321 qwerasdf qwerasdfzxcv qwerqwer qwert123 qwert1234 qwert12345 qwertasdfg qwertqwert
qwerty00 qwerty01 qwerty07 qwerty10 qwerty11 qwerty12 qwerty123 qwerty123! qwerty1234 qwerty12345 qwerty123456
qwerty123456789 qwerty1! qwerty13 qwerty21 qwerty22 qwerty23 qwerty321 qwerty69 qwerty77 qwerty78 qwerty777 qwerty789
qwerty88 qwerty89 qwerty99 qwertyu1 qwertyu8 qwertyui qwertyui1 qwertyuio qwertyuiop qwertyuiop1 qwertyuiop12
qwertyuiop123 qwertyuiop[] qwertyqwerty qwertz12 qwertz123 qwertzui qwertzuiop racecar1 raiders1 rainbow1 rainbow6
ranger01 rangers1 rasta420 rastafari realmadrid realmadrid1 rebecca1 redalert reddevil redrose1 redskins redsox04
redwings register remember renegade rihanna1 riccardo richard1 richmond roadrunner robert01 robert12 robert123
robinhood rockstar rockstar1 rockyou1 roberta1 roberto1 rodrigo1 rodriguez rolltide romance1 ronaldinho ronaldo1
ronaldo7 ronaldo07 root1234 rootroot root123456 rosemary roxanne1 rush2112 ryan1234 sabrina1 sacramento salvador
samantha samantha1 samsung1 samsung12 samsung123 samuel12 sandiego sandra123 sandrine sanfrancisco santiago santiago1
sarah123 sasha123 sasuke123 saturday savannah scarface schalke04 school123 schatz123 scoobydoo scooby12 scooter1
scorpio1 scorpion scorpion1 scotland scotland1 seahawks sebastian sebastian1 sebastien secret12 secret123 secret1234
secretsecret security september serenity sergio123 service1 sexybitch sexygirl sexylady sexymama sexysexy sexy1234
shadow01 shadow12 shadow123 shannon1 shelby12 sherlock shithead shooting shopping sidekick silver12 silver123 simple123
simpsons skateboard skater12 skittles skittles1 slipknot slipknot1 slipknot6 slipknot666 smile123 smirnoff smokey12
smokeweed smokeweed420 snickers snickers1 snowball snowball1 snowboard snowflake soccer10 soccer11 soccer12 soccer13
soccer123 soccer22 softball softball1 softball12 software something soulmate southpark spartan117 sparky12 spencer1
spectrum spiderman spiderman1 spiderman2 spiderman3 spitfire spongebob spongebob1 sporting sporting1 sprite123
sammy123 ssssssss1 stanley1 starbucks stardust starfish stargate starlight starwars starwars1 starwars123 steelers
steelers1 stefania stella123 stephanie stephanie1 stephen1 steven123 stranger strawberry strawberry1 student1
student123 stupid123 submarine success1 success123 sugar123 summer00 summer01 summer08 summer09 summer10 summer11
summer12 summer123 summer99 sunflower sunflower1 sunshine sunshine1 sunshine12 sunshine123 sunshine2 superman superman1
superman12 superman123 superstar superstar1 superuser supernova supersonic surfer123 survivor sweet123 sweet16!
sweetheart sweetie1 sweetness sweetpea sweetpea1 sweety123 swimming swordfish sylvester sysadmin systemadmin
system123 taekwondo tamerlan tarheels tatiana1 taylor12 taylor123 teacher1 techno123 tecktonik telefon1 telephone
temp1234 temp12345 temppass tennessee tequiero tequieromucho terminator test1234 test12345 test123456 testpass
testpass1 testpassword test@123 testing1 testing123 testtest testtest1 tester123 texas123 therock1 theresa1 thailand
thebeatles thebest1 theking1 theone11 thuglife thunder1 thunder123 thunderbird thumper1 tiffany1 tigers12 tigger01
tigger12 tigger123 timberlake time2die tinkerbell tinkerbell1 tomorrow toor1234 toronto1 tottenham toyota123 trinidad
trinity1 trueblue truelove truelove1 trustme1 trustno1 trustno1! trustnoone tunisie1 tweety12 tweety123 twilight
twilight1 twister1 ukraine1 undertaker underworld unicorn1 universe user1234 user12345 usuario1 vacation valencia
valentin valentina valentina1 valentine valentino valerie1 vampires vancouver vanessa1 vanessa123 vegeta123 verbatim
veronica veronika veronica1 victoria victoria1 victor123 vietnam1 viktoria vincent1 vincenzo viper123 virginia
vision123 vladimir vladislav voetbal1 volkswagen volleyball volleyball1 w1w2w3w4 wachtwoord wachtwoord1 warcraft
warcraft3 warhammer warrior1 warriors washington waterfall watermelon weare138 webmaster welcome! welcome01 welcome1
welcome1! welcome12 welcome123 welcome1234 welcome2 welcome@123 westham1 westlife westside westside1 whatever whatever1
whatever! wildcats wildcats1 william1 william123 williams willow123 windows1 windows10 windows7 winner12 winner123
winston1 winter12 winter123 wisconsin wolfgang wolverine wonderful woodland wordpass wordpass1 wrestling wrestling1
wutang36 www123456 xbox360! xboxlive xiaoxiao xxxxxxx1 yankees1 yankees2 yellow12 yellow123 yamaha123 yfnfitymrf
yolanda1 youtube1 youtube123 yourmom1 zaq12wsx zaq1xsw2 zaq1zaq1 zaq123456 zaq1@wsx zaqwsx123 zaqwsxcde zaqxswcde
zeppelin zidane10 zombie123 zxc123456 zxc123zxc zxcasdqwe zxcasdqwe123 zxcv1234 zxcv12345 zxcvbnm1 zxcvbnm12 zxcvbnm123
zxcvbnm, zxcvbnm,. zxcvbnm,./ zxczxczxc zzzxxx123 zxcvzxcv ytrewq321 yxcvbnm1 letmein1234 correcthorsebatterystaple
`
